#include "parley/privacy/moments.h"

#include <gtest/gtest.h>

#include "parley/privacy/gaussian.h"

namespace parley::privacy {
namespace {

TEST(Moments, NoneIsBelowTheExactOne) {
  for (const double mu : {0.03, 0.3, 1.0, 4.0})
    for (const double delta : {1e-3, 1e-5, 1e-9}) {
      const double exact = gdp_epsilon(mu, delta);
      EXPECT_GE(renyi_epsilon(mu, delta), exact);
      EXPECT_GE(moments_epsilon(mu, delta), exact);
      EXPECT_GE(zcdp_epsilon(mu, delta), exact);
    }
}

// HHCG20's own figures for 100 iterations at ε = 0.05 and 0.1, δ = 1e-3, are 0.5009 and 1.0193: the moments.
TEST(Moments, Hhcg20sFiguresAreReproducedAndOverstateTheLoss) {
  EXPECT_NEAR(moments_epsilon(10 * dp_admm_mu(0.05, 1e-3), 1e-3), 0.5009, 5e-5);
  EXPECT_NEAR(moments_epsilon(10 * dp_admm_mu(0.1, 1e-3), 1e-3), 1.0193, 5e-5);
  for (const double delta : {1e-3, 1e-4, 1e-5, 1e-6})
    for (const double epsilon : {0.01, 0.02, 0.05, 0.07, 0.1, 0.2}) {
      const double total = 10 * dp_admm_mu(epsilon, delta);
      EXPECT_LT(gdp_epsilon(total, delta), moments_epsilon(total, delta));
    }
}

}  // namespace
}  // namespace parley::privacy
