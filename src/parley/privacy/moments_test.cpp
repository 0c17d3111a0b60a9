// Golden numbers: shared/spec/accounting_golden.json. HHCG20's own figures, 0.5009 and 1.0193, are the moments at 0.05
// and 0.1, δ = 1e-3.
#include "parley/privacy/moments.h"

#include <gtest/gtest.h>

#include <cmath>

#include "parley/privacy/gaussian.h"

namespace parley::privacy {
namespace {

TEST(Moments, DpAdmmOverAHundredIterationsMatchesTheGoldenNumbers) {
  struct Golden {
    double epsilon, delta, moments, exact;
  };
  for (const Golden& g : {Golden{0.01, 0.001, 0.09877386766841, 0.03693844828598},
                          Golden{0.02, 0.001, 0.1982489092167, 0.09031094630732},
                          Golden{0.05, 0.001, 0.500881077141, 0.2771640467395},
                          Golden{0.07, 0.001, 0.7061417251567, 0.4145869665228},
                          Golden{0.1, 0.001, 1.019291501279, 0.6339064723447},
                          Golden{0.2, 0.001, 2.108700390549, 1.448820471991},
                          Golden{0.01, 0.0001, 0.09907547175975, 0.05180361541939},
                          Golden{0.02, 0.0001, 0.1986809703941, 0.1147666992881},
                          Golden{0.05, 0.0001, 0.5006908835738, 0.3232694783795},
                          Golden{0.07, 0.0001, 0.7047221534234, 0.4718871202986},
                          Golden{0.1, 0.0001, 1.014781630972, 0.704808091374},
                          Golden{0.2, 0.0001, 2.083424901546, 1.545341373527},
                          Golden{0.01, 1e-05, 0.09925799284668, 0.06070378161968},
                          Golden{0.02, 1e-05, 0.1989420227244, 0.1298202078905},
                          Golden{0.05, 1e-05, 0.500577744116, 0.3525724918666},
                          Golden{0.07, 1e-05, 0.7037653761136, 0.508724488988},
                          Golden{0.1, 1e-05, 1.011806414008, 0.7509769568672},
                          Golden{0.2, 1e-05, 2.067106736167, 1.610316066704},
                          Golden{0.01, 1e-06, 0.09938028870756, 0.06667625541314},
                          Golden{0.02, 1e-06, 0.1991168217244, 0.1400895554617},
                          Golden{0.05, 1e-06, 0.500469187995, 0.3729790059695},
                          Golden{0.07, 1e-06, 0.7031499796789, 0.5345786907143},
                          Golden{0.1, 1e-06, 1.00984236344, 0.783671664527},
                          Golden{0.2, 1e-06, 2.055300676678, 1.65743017144}}) {
    const double mu = 10 * dp_admm_mu(g.epsilon, g.delta);
    EXPECT_NEAR(moments_epsilon(mu, g.delta), g.moments, 1e-11 * g.moments) << g.epsilon;
    EXPECT_NEAR(gdp_epsilon(mu, g.delta), g.exact, 1e-9 * g.exact) << g.epsilon;
    EXPECT_GE(gdp_epsilon(mu, g.delta), g.exact * (1 - 1e-12));
    EXPECT_LT(gdp_epsilon(mu, g.delta), moments_epsilon(mu, g.delta));  // the paper overstates its loss
  }
  EXPECT_NEAR(dp_admm_mu(0.05, 1e-3), 0.01323984403135, 1e-13);
}

TEST(Moments, RenyiMatchesTheGoldenNumberAndNoneIsBelowTheExactOne) {
  EXPECT_NEAR(renyi_epsilon(0.3125, 1e-5), 1.291266045725, 1e-11);
  for (const double mu : {0.03, 0.3, 1.0, 4.0})
    for (const double delta : {1e-3, 1e-5, 1e-9}) {
      const double exact = gdp_epsilon(mu, delta);
      EXPECT_GE(renyi_epsilon(mu, delta), exact);
      EXPECT_GE(moments_epsilon(mu, delta), exact);
      EXPECT_GE(zcdp_epsilon(mu, delta), exact);
    }
}

}  // namespace
}  // namespace parley::privacy
