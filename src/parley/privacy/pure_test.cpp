#include "parley/privacy/pure.h"

#include <gtest/gtest.h>

#include <cmath>

namespace parley::privacy {
namespace {

// Two settings of the golden numbers (golden_test.cpp). W: the Jacobian is heavy.
const RoundFacts A{.gradient_weight = 1750.0 / 8000, .strong_convexity = 0.22 / 5 + 4, .logistic = true};
const RoundFacts W{.gradient_weight = 1, .strong_convexity = 0.5, .logistic = true};

void near(double value, double expected) {
  EXPECT_NEAR(value, expected, 1e-12 * expected);
}

// Never below the truth: the supremum over a fine grid of s, in long double, is not above what is claimed.
TEST(Pure, TheLogisticBoundIsNeverBelowTheSupremumItStandsFor) {
  for (const double a0 : {1e-4, 0.2, 1.0, 30.0})
    for (const double kappa : {0.01, 0.5, 4.0, 100.0})
      for (const double rate : {1e-3, 0.1, 1.0, 7.0}) {
        const double claim =
            objective_epsilon({.gradient_weight = a0, .strong_convexity = kappa, .logistic = true}, rate);
        const long double a = static_cast<long double>(a0) * rate, b = static_cast<long double>(a0) / kappa;
        long double most = 0;
        for (int i = 0; i <= 20000; ++i) {
          const long double s = i / 20000.0L;
          most = std::max(most, a + a * s + std::log1p(b * s * (1 - s)));
        }
        EXPECT_GE(static_cast<long double>(claim), most);
        EXPECT_LE(claim, static_cast<double>(most) * (1 + 1e-6));
        EXPECT_LE(claim, objective_epsilon_any_loss(
                             {.gradient_weight = a0, .strong_convexity = kappa, .logistic = true}, rate) *
                             (1 + 1e-12));
        EXPECT_LE(claim, zkl20_epsilon({.gradient_weight = a0, .strong_convexity = kappa, .logistic = true}, rate));
      }
}

TEST(Pure, TheJacobianIsFreeExactlyWhenRateTimesCurvatureReachesOne) {
  EXPECT_NEAR(objective_epsilon(A, 1.001 / A.strong_convexity), 2 * A.gradient_weight * 1.001 / A.strong_convexity,
              1e-15);
  EXPECT_GT(objective_epsilon(A, 0.9 / A.strong_convexity),
            2 * A.gradient_weight * 0.9 / A.strong_convexity * (1 + 1e-6));
}

TEST(Pure, OtherLossesCarryTheirGradientAndCurvatureBounds) {
  const RoundFacts huber{
      .gradient_weight = 0.5, .strong_convexity = 2, .gradient_bound = 0.3, .curvature_bound = 1, .logistic = false};
  near(objective_epsilon(huber, 2), 2 * 0.5 * 0.3 * 2 + std::log1p(0.25));
  near(output_epsilon(huber, 2, 0.01), 2 * (2 * 0.5 * 0.3 + 0.02) / 2);
}

TEST(Pure, ApproximateMinimaCostWhatTheyAreAllowedTo) {
  const double rate = inexact_rate(4.044, 1e-7, 1e-5);
  EXPECT_LE(inexact_epsilon(4.044, 1e-7, rate), 1e-5);
  EXPECT_GE(inexact_epsilon(4.044, 1e-7, rate), 0.999999 * 1e-5);
}

TEST(Pure, ThePapersConditionIsReportedWithItsNumbers) {
  EXPECT_FALSE(paper_condition_violated(A));
  EXPECT_TRUE(paper_condition_violated(W).has_value());  // 2 c1 = 0.5 >= (B/C) kappa = 0.5
  EXPECT_NE(paper_condition_violated(W)->find("0.5 >= 0.5"), std::string::npos);
}

TEST(Pure, SumsAreRoundedUp) {
  UpwardSum sum;
  for (int i = 0; i < 1000; ++i) sum.add(0.1);
  EXPECT_GE(static_cast<long double>(sum.value()), 1000 * static_cast<long double>(0.1));
  EXPECT_NEAR(sum.value(), 100, 1e-11);
}

}  // namespace
}  // namespace parley::privacy
