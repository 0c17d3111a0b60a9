#include "parley/privacy/gaussian.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace parley::privacy {
namespace {

TEST(Gaussian, InversesNeverPromiseMoreThanTheyHold) {
  std::mt19937_64 draw(1);
  std::uniform_real_distribution<double> uniform;
  for (int i = 0; i < 300; ++i) {
    const double mu = std::exp(-6 + 8 * uniform(draw)), delta = std::pow(10, -1 - 11 * uniform(draw));
    const double epsilon = gdp_epsilon(mu, delta);
    EXPECT_LE(gdp_delta(mu, epsilon), delta * (1 + 1e-15));
    EXPECT_TRUE(epsilon == 0 || gdp_delta(mu, epsilon * (1 - 1e-9)) > delta) << mu << " " << delta;
    const double back = gdp_mu(epsilon + 1e-12, delta);
    EXPECT_GE(back, mu * (1 - 1e-6));
  }
}

TEST(Gaussian, DeltaIsStableWhereTheTextbookFormulaOverflows) {
  EXPECT_EQ(gdp_delta(0, 0.5), 0);
  EXPECT_NEAR(gdp_delta(0, -1), 1 - std::exp(-1), 1e-15);
  EXPECT_GT(gdp_delta(10, 800), 0);
  EXPECT_LT(gdp_delta(10, 800), 1e-300);
  EXPECT_NEAR(gdp_delta(0.5, -30), 1 - std::exp(-30), 1e-14);
  for (double e = -20; e < 20; e += 0.01) EXPECT_LE(gdp_delta(1.3, e + 0.01), gdp_delta(1.3, e));
}

TEST(Gaussian, HugeLossesAreHugeAndNotZero) {
  for (const double mu : {50.0, 200.0, 1000.0}) {
    EXPECT_GT(gdp_epsilon(mu, 1e-5), mu * mu / 2);
    EXPECT_LT(gdp_epsilon(mu, 1e-5), mu * mu / 2 + 5 * mu);
  }
  EXPECT_GT(gdp_of_pure(1000), 40);
  EXPECT_EQ(gdp_of_pure(20000), INFINITY);
}

TEST(Gaussian, MoreRoundsCostMoreAndSmallerOnesLess) {
  EXPECT_DOUBLE_EQ(gdp_compose(std::vector<double>{3, 4}), 5);
  EXPECT_GE(gdp_compose(std::vector<double>(25, 0.0625)), 0.3125);
  const std::vector<double> equal(20, 0.2);
  std::vector<double> unequal = equal;
  for (std::size_t k = 0; k < 20; ++k) unequal[k] += 0.001 * static_cast<double>(k);
  EXPECT_GT(pure_epsilon(unequal, 1e-6), pure_epsilon(equal, 1e-6));
  EXPECT_LT(pure_epsilon(equal, 1e-6), 4);  // never worse than the sum
  EXPECT_GE(pure_epsilon(equal, 0), 4);
}

TEST(Gaussian, AGridOfUnequalRoundsIsNeverBelowEqualOnesOfTheSmallest) {
  std::vector<double> rounds(25, 0.1);
  rounds[3] = 0.1 + 1e-9;
  EXPECT_GE(pure_epsilon(rounds, 1e-5), pure_epsilon(std::vector<double>(25, 0.1), 1e-5));
  EXPECT_LE(pure_epsilon(rounds, 1e-5), 1.01 * pure_epsilon(std::vector<double>(25, 0.1), 1e-5));
}

// ε-DP ⇒ μ-GDP: the Gaussian profile lies above randomised response's everywhere.
TEST(Gaussian, APureRoundIsDominatedByItsGaussian) {
  for (const double epsilon : {0.01, 0.5, 2.0, 6.0})
    for (double e = -8; e < 8; e += 0.05)
      EXPECT_GE(gdp_delta(gdp_of_pure(epsilon), e), pure_delta(std::vector<double>{epsilon}, e) * (1 - 1e-12))
          << epsilon << " " << e;
}

}  // namespace
}  // namespace parley::privacy
