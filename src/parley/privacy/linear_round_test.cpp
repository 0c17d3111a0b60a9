#include "parley/privacy/linear_round.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "parley/base/vector.h"
#include "parley/privacy/gaussian.h"
#include "parley/privacy/gaussian_round.h"
#include "parley/privacy/moments.h"

namespace parley::privacy {
namespace {

// The gradient of one record z = y·x at w, up to its sign.
Vector logistic_gradient(const Vector& w, const Vector& z) {
  return z / (1 + std::exp(w.dot(z)));
}
Vector hinge_gradient(const Vector& w, const Vector& z) {
  return w.dot(z) < 1 ? z : Vector(0 * z);
}

Vector pair(double a, double b) {
  return Eigen::Vector2d(a, b);
}

struct Draw {
  std::mt19937_64 engine{7};
  std::normal_distribution<double> normal{};
  std::uniform_real_distribution<double> uniform{};

  Vector in_unit_ball(int d) {
    Vector z(d);
    for (double& entry : z) entry = normal(engine);
    return z / z.norm() * (uniform(engine) < 0.7 ? 1 : uniform(engine));
  }
};

// An argmin with strong convexity κ and a linearised update with divisor κ are priced alike: one formula.
TEST(LinearRound, TheFunctionsForNoiseOnTheOutputPriceIt) {
  const RoundFacts round{.gradient_weight = 0.03, .strong_convexity = 2.7, .gradient_bound = std::sqrt(2.0)};
  const double sensitivity = (2 * 0.03 * std::sqrt(2.0) + 2e-6) / 2.7;
  EXPECT_NEAR(output_mu(round, 0.5, 1e-6), sensitivity / 0.5, 1e-14);
  EXPECT_NEAR(output_epsilon(round, 3, 1e-6), sensitivity * 3, 1e-14);
}

// The printed (ε, δ) of one iteration against the exact δ of the same noise.
TEST(LinearRound, DpAdmmsPrintedNoiseKeepsItsPromiseForSmallEpsilonOnly) {
  for (const double delta : {1e-3, 1e-5})
    for (const double epsilon : {0.01, 0.05, 0.2, 1.0})
      EXPECT_LT(gdp_delta(dp_admm_mu(epsilon, delta), epsilon), delta);
  EXPECT_GT(gdp_delta(dp_admm_mu(20, 1e-3), 20), 0.09);
}

TEST(LinearRound, TheDiameterIsNeverBelowTheMaximumItStandsFor) {
  for (const double norm : {0.0, 1e-9, 1e-3, 0.1, 0.5, 1.0, 2.0, 3.7, 10.0, 55.0, 1e3, 1e6}) {
    const double claim = logistic_gradient_diameter(norm);
    long double most = 0;
    for (int i = 0; i <= 100'000; ++i) {  // more points where the maximum lies: a² = x/(1 + e^x + x), a < 0.47
      const long double a = 0.5L * i / 100'000;
      most = std::max(most, 2 * std::sqrt(1 - a * a) / (1 + std::exp(-a * norm)));
    }
    EXPECT_GE(static_cast<long double>(claim), most) << norm;
    EXPECT_LE(static_cast<long double>(claim), most * (1 + 1e-3L * (norm > 1e4) + 1e-7L)) << norm;
  }
}

TEST(LinearRound, TheDiameterGrowsWithTheNormBetweenOneAndTwo) {
  double last = 1;
  for (double norm = 0; norm < 300; norm += 0.37) {
    const double next = logistic_gradient_diameter(norm);
    EXPECT_GE(next, last);
    EXPECT_LT(next, 2);
    last = next;
  }
  EXPECT_LE(logistic_gradient_diameter(1e308), 2);
  EXPECT_EQ(logistic_gradient_diameter(std::numeric_limits<double>::infinity()), 2);
  EXPECT_THROW(logistic_gradient_diameter(std::nan("")), std::logic_error);
}

// Lemma U2: no pair of records is further apart, and two records are exactly that far apart.
TEST(LinearRound, NoTwoLogisticGradientsAreFurtherApartThanTheDiameter) {
  Draw draw;
  for (const double norm : {0.0, 0.3, 1.0, 2.5, 8.0, 40.0, 1000.0}) {
    const double claim = logistic_gradient_diameter(norm);
    for (const int d : {1, 2, 3, 7}) {
      const Vector w = norm * draw.in_unit_ball(d).normalized();
      for (int i = 0; i < 20'000; ++i)
        ASSERT_LE((logistic_gradient(w, draw.in_unit_ball(d)) - logistic_gradient(w, draw.in_unit_ball(d))).norm(),
                  claim);
    }
    double reached = 0;
    for (double a = 0; a < 0.5; a += 1e-4) {
      const double b = std::sqrt(1 - a * a);
      const Vector w = pair(-norm, 0);
      reached = std::max(reached, (logistic_gradient(w, pair(a, b)) - logistic_gradient(w, pair(a, -b))).norm());
    }
    EXPECT_GT(reached, claim * (1 - 1e-4)) << norm;
  }
}

// The proof's stronger statement: all gradients lie in one ball of that diameter.
TEST(LinearRound, AllLogisticGradientsLieInOneBallOfThatDiameter) {
  for (double x = 1e-6; x < 12; x *= 1.3) {  // R² = x(1 + x + e^x), a = x/R
    const double norm = std::sqrt(x * (1 + x + std::exp(x))), a = x / norm,
                 radius = logistic_gradient_diameter(norm) / 2;
    const Vector w = pair(-norm, 0), centre = pair(a / (1 + std::exp(-x)), 0);
    for (double angle = 0; angle <= M_PI; angle += 1e-3) {
      const Vector gradient = logistic_gradient(w, pair(std::cos(angle), std::sin(angle)));
      ASSERT_LE((gradient - centre).norm(), radius * (1 + 1e-14)) << x << " " << angle;
    }
  }
}

// accounting.md says that in one dimension a replaced record moves the gradient by one weight. Not if ‖x‖ < 1 may
// occur.
TEST(LinearRound, InOneDimensionOneWeightIsNotEnough) {
  const Vector w = Vector::Constant(1, 10.0), z = Vector::Constant(1, -1.0), other = Vector::Constant(1, 0.128);
  const double distance = (logistic_gradient(w, z) - logistic_gradient(w, other)).norm();
  EXPECT_GT(distance, 1.027);
  EXPECT_LE(distance, logistic_gradient_diameter(10));
}

// The broken twin: the diameter of the logistic loss is not that of the hinge, whose gradients at 0 are all of full
// length.
TEST(LinearRound, TheLogisticDiameterWouldBeWrongForTheHinge) {
  const Vector w = pair(0, 0);
  EXPECT_GT((hinge_gradient(w, pair(1, 0)) - hinge_gradient(w, pair(-1, 0))).norm(),
            1.9 * logistic_gradient_diameter(0));
}

}  // namespace
}  // namespace parley::privacy
