#include "parley/privacy/literature_test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace parley::privacy {
namespace {

const RoundFacts A{.gradient_weight = 1750.0 / 8000, .strong_convexity = 0.22 / 5 + 4, .logistic = true};

// Both formulas belong to the privacy loss J + m²/2 + m|X|, X ~ N(0, 1): integrate it.
TEST(Literature, RedbergsTwoFormulasAreOneLossDistribution) {
  const double scale = 1, m = A.gradient_weight / scale, J = -std::log1p(-A.gradient_weight / 4 / A.strong_convexity),
               step = 1e-4;
  for (const double epsilon : {0.005, 0.02, 0.1, 0.5}) {
    double delta = 0;
    for (double x = step / 2; x < 12; x += step)
      delta += 2 * step * std::exp(-x * x / 2) / std::sqrt(2 * M_PI) *
               std::max(0.0, -std::expm1(epsilon - J - m * m / 2 - m * x));
    EXPECT_NEAR(redberg_delta(A, scale, epsilon), delta, 1e-6);
  }
  for (const double order : {1.5, 10.0, 60.0}) {
    double moment = 0;
    for (double x = step / 2; x < 30; x += step)
      moment += 2 * step * std::exp(-x * x / 2 + (order - 1) * (J + m * m / 2 + m * x)) / std::sqrt(2 * M_PI);
    EXPECT_NEAR(redberg_renyi(A, scale, order), std::log(moment) / (order - 1), 1e-6);
  }
}

}  // namespace
}  // namespace parley::privacy
