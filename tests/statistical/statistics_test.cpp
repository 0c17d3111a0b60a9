// The statistics of the audit against closed forms and tables.
#include "parley/audit/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "parley/privacy/random.h"

namespace parley::audit {
namespace {

using privacy::Random;

TEST(Statistics, ClopperPearsonAgreesWithClosedForms) {
  EXPECT_NEAR(binomial_upper(0, 1000, 0.001), 1 - std::pow(0.001, 1e-3), 1e-12);
  EXPECT_NEAR(binomial_lower(1000, 1000, 0.001), std::pow(0.001, 1e-3), 1e-12);
  EXPECT_EQ(binomial_lower(0, 10, 0.001), 0);
  EXPECT_EQ(binomial_upper(10, 10, 0.001), 1);
  EXPECT_NEAR(binomial_lower(8, 10, 0.025), 0.4439, 1e-4);  // the textbook's 95 % interval of 8 in 10
  EXPECT_NEAR(binomial_upper(8, 10, 0.025), 0.9748, 1e-4);
}

TEST(Statistics, KolmogorovsLawHasItsTabulatedQuantiles) {
  EXPECT_NEAR(ks_p_value(1.3581e-3, 1000000), 0.05, 2e-4);
  EXPECT_NEAR(ks_p_value(1.6276e-3, 1000000), 0.01, 1e-4);
  EXPECT_NEAR(ks_distance({0.1, 0.4, 0.7}, [](double x) { return x; }), 0.3, 1e-12);
}

TEST(Statistics, RandomisedResponseIsBoundedBelowItsEpsilonAndNearIt) {
  Random random = Random::seeded(11, 0, 0, "sampler test");
  const double epsilon = 1, keep = 1 / (1 + std::exp(-epsilon));
  std::vector<double> d, other;
  for (int i = 0; i < 20000; ++i) {
    d.push_back(random.uniform() < keep ? 1 : 0);
    other.push_back(random.uniform() < keep ? 0 : 1);
  }
  const Cut cut = choose_cut(d, other, 0.001);
  EXPECT_EQ(cut.threshold, 1);
  EXPECT_LT(cut.epsilon, epsilon);
  EXPECT_GT(cut.epsilon, 0.9 * epsilon);
  EXPECT_EQ(epsilon_lower_bound(cut.threshold, d, other, 0.001), cut.epsilon);
}

}  // namespace
}  // namespace parley::audit
