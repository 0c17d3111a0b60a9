#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <cstdlib>
#include <random>

#include "parley/base/error.h"
#include "parley/problem/metrics.h"
#include "parley/problem/rows_test.h"
#include "parley/problem/solve.h"

namespace parley::problem {
namespace {

const std::vector<Loss> smooth_losses = {{.kind = LossKind::logistic},
                                         {.kind = LossKind::huber_hinge, .width = 0.5},
                                         {.kind = LossKind::huber, .width = 0.3},
                                         {.kind = LossKind::logistic, .class_weights = {0.3, 4}},
                                         {.kind = LossKind::huber_hinge, .width = 0.5, .class_weights = {1, 3}}};

TEST(Loss, SlopeAndCurvatureAreTheDerivatives) {
  for (const Loss& loss : smooth_losses)
    for (double score = -4.0317; score < 4; score += 0.11)  // misses the bends at 0.5, 0.7, 1.3, 1.5
      for (const double label : {-1.0, 1.0}) {
        const double h = 1e-6;
        EXPECT_NEAR(loss.slope(score, label), (loss.value(score + h, label) - loss.value(score - h, label)) / (2 * h),
                    1e-8)
            << name_of(loss);
        EXPECT_NEAR(loss.curvature(score, label),
                    (loss.slope(score + h, label) - loss.slope(score - h, label)) / (2 * h), 1e-8)
            << name_of(loss);
      }
}

TEST(Loss, BoundsHoldEverywhere) {
  for (const Loss& loss : smooth_losses)
    for (double score = -1000; score <= 1000; score += 0.37)
      for (const double label : {-1.0, 1.0}) {
        EXPECT_LE(std::abs(loss.slope(score, label)), loss.gradient_bound());
        EXPECT_GE(loss.curvature(score, label), 0);
        EXPECT_LE(loss.curvature(score, label), loss.curvature_bound());
      }
}

TEST(Loss, LogisticIsStableForMarginsOfAThousand) {
  const Loss loss;
  EXPECT_EQ(loss.value(-1000, 1), 1000);
  EXPECT_EQ(loss.value(1000, 1), 0);
  EXPECT_EQ(loss.slope(-1000, 1), -1);
  EXPECT_EQ(loss.slope(1000, 1), 0);
  EXPECT_EQ(loss.curvature(1000, 1), 0);
  EXPECT_NEAR(loss.value(30, 1), 9.357622968839299e-14, 1e-24);
}

TEST(Loss, LogisticCurvatureIsSlopeTimesOneMinusSlope) {  // what theorem 2 of docs/proofs/objective.md rests on
  const Loss loss;
  for (double z = -20; z < 20; z += 0.1) {
    const double s = std::abs(loss.slope(z, 1));
    EXPECT_NEAR(loss.curvature(z, 1), s * (1 - s), 1e-15);
  }
}

TEST(Objective, GradientAndHessianMatchFiniteDifferences) {
  for (const Loss& loss : smooth_losses) {
    const Rows rows = random_rows(60, 7, 0.6, 1, !loss.classifies());
    const Problem p{.rows = &rows, .loss = loss, .weight = 0.7, .regularization = 0.3};
    const Proximal proximal{.linear = Vector::LinSpaced(7, -1, 1), .quadratic = 0.4};
    const Vector f = Vector::LinSpaced(7, 1, -0.5);
    Evaluation at, up, down;
    evaluate({&p, 1}, proximal, f, at);
    Matrix lower;
    hessian({&p, 1}, proximal, at, lower);
    for (Index k = 0; k < 7; ++k) {
      const double h = 1e-6;
      Vector step = Vector::Zero(7);
      step[k] = h;
      evaluate({&p, 1}, proximal, f + step, up);
      evaluate({&p, 1}, proximal, f - step, down);
      EXPECT_NEAR(at.gradient[k], (up.value - down.value) / (2 * h), 1e-7);
      const Vector column = lower.selfadjointView<Eigen::Lower>() * Vector::Unit(7, k);
      EXPECT_LT((column - (up.gradient - down.gradient) / (2 * h)).norm(), 1e-5) << name_of(loss);
      Vector product;
      hessian_times({&p, 1}, proximal, at, Vector::Unit(7, k), product);
      EXPECT_LT((column - product).norm(), 1e-12);
      EXPECT_NEAR(column[k], hessian_diagonal({&p, 1}, proximal, at)[k], 1e-12);
    }
  }
}

TEST(Solve, FindsAMinimumThatWasBuiltBackwards) {  // l is chosen so that a given f is the minimum
  for (const Loss& loss : smooth_losses)
    for (const int dense_limit : {400, 1}) {  // Cholesky, conjugate gradients
      const Rows rows = random_rows(200, 20, 0.4, 2, !loss.classifies());
      const Problem p{.rows = &rows, .loss = loss, .weight = 1.0 / 200, .regularization = 0.01};
      const Vector known = Vector::LinSpaced(20, -2, 3);
      Proximal proximal{.linear = -gradient(p, known) - 0.5 * known, .quadratic = 0.5};
      const Solution found = argmin(p, proximal, Vector::Zero(20), {.tolerance = 1e-12, .dense_limit = dense_limit});
      EXPECT_LT((found.f - known).norm(), 1e-11) << name_of(loss);
      EXPECT_LE(found.certificate.bound(), 1e-12);
    }
}

TEST(Solve, ConvergesFromFarAwayAndWithHugeWeights) {
  const Rows rows = random_rows(500, 30, 0.3, 3);
  for (const double weight : {1e-6, 1.0, 1750.0 / 500, 1e4}) {
    const Problem p{.rows = &rows, .weight = weight, .regularization = 1e-3};
    const Proximal none{.linear = Vector::Zero(30)};
    const Vector far = 1000 * Vector::Ones(30);
    const Solution a = argmin(p, none, far, {.tolerance = 1e-9 * weight * 500}),
                   b = argmin(p, none, Vector::Zero(30), {.tolerance = 1e-9 * weight * 500});
    EXPECT_LT((a.f - b.f).norm(), 2e-9 * weight * 500 / 1e-3 + 1e-9) << weight;
  }
}

// The shape of a private round: a large random linear term, a warm start, kinks everywhere. Every draw must be
// certified.
TEST(Solve, EveryNoisyRoundOfEveryLossIsCertified) {
  const int draws = std::getenv("PARLEY_TEST_SHORT") ? 20 : 300;
  std::mt19937 draw(9);
  std::normal_distribution<double> normal;
  for (const Loss& loss : smooth_losses) {
    const Rows rows = random_rows(240, 62, 0.25, 8, !loss.classifies());
    const double weight = 200.0 / 240;
    const Problem p{.rows = &rows, .loss = loss, .weight = weight, .regularization = 0.044};
    Vector f = Vector::Zero(62);
    for (int i = 0; i < draws; ++i) {
      Vector b(62);
      for (auto& x : b) x = 15 * normal(draw);
      const Proximal proximal{.linear = b - 4 * f, .quadratic = 4};
      const Solution s = argmin(p, proximal, f, {.tolerance = 1e-6 * weight});
      EXPECT_LE(s.certificate.bound(), 1e-6 * weight);
      f = s.f;
    }
  }
}

TEST(Solve, SeparableDataHasAFiniteMinimumThroughItsRegularisation) {
  Rows rows;
  rows.features = 2;
  for (const double y : {-1.0, 1.0}) rows.append(std::vector<std::int32_t>{0}, std::vector<double>{y}, y);
  const Problem p{.rows = &rows, .weight = 1000, .regularization = 1e-6};
  const Solution s = argmin(p, {.linear = Vector::Zero(2)}, Vector::Zero(2), {.tolerance = 1e-9});
  EXPECT_GT(s.f[0], 10);
  EXPECT_EQ(s.f[1], 0);
}

// The certificate is what the privacy proof rests on: it must bound the true gradient norm, here computed in long
// double.
TEST(Certificate, BoundsTheTrueGradientNorm) {
  const Rows rows = random_rows(5000, 40, 0.5, 4);
  const Problem p{.rows = &rows, .weight = 0.35, .regularization = 0.04};
  const Proximal proximal{.linear = Vector::LinSpaced(40, -3, 2), .quadratic = 4};
  for (const double tolerance : {1e-3, 1e-7, 1e-9}) {
    const Vector f = argmin(p, proximal, Vector::Zero(40), {.tolerance = tolerance}).f;
    std::vector<long double> g(40);
    for (Index k = 0; k < 40; ++k) g[static_cast<std::size_t>(k)] = 4.04L * f[k] + proximal.linear[k];
    for (std::size_t n = 0; n < rows.count(); ++n) {
      long double s = 0;
      for (std::size_t k = rows.start[n]; k < rows.start[n + 1]; ++k)
        s += static_cast<long double>(rows.value[k]) * f[rows.column[k]];
      const long double slope = -rows.label[n] / (1 + std::exp(rows.label[n] * s));
      for (std::size_t k = rows.start[n]; k < rows.start[n + 1]; ++k)
        g[static_cast<std::size_t>(rows.column[k])] += 0.35L * slope * rows.value[k];
    }
    long double square = 0;
    for (const long double x : g) square += x * x;
    const Certificate c = certify({&p, 1}, proximal, f);
    EXPECT_LE(std::sqrt(square), static_cast<long double>(c.bound()));
    EXPECT_NEAR(c.gradient_norm, static_cast<double>(std::sqrt(square)), c.rounding);
    EXPECT_LT(c.rounding, 1e-9);
  }
}

TEST(Certificate, ATolerancePastDoubleArithmeticIsRefusedNotFaked) {
  const Rows rows = random_rows(1000, 10, 0.5, 5);
  const Problem p{.rows = &rows, .weight = 1.75, .regularization = 0.1};
  EXPECT_THROW(argmin(p, {.linear = Vector::Zero(10)}, Vector::Zero(10), {.tolerance = 1e-18}), Error);
}

TEST(Solve, CentralisedOptimumHasZeroGradientOverAllParts) {
  const Rows a = random_rows(100, 8, 0.7, 6), b = random_rows(40, 8, 0.7, 7);
  const std::vector<Problem> parts = {{.rows = &a, .weight = 0.3, .regularization = 0.2},
                                      {.rows = &b, .weight = 2.0, .regularization = 0.2}};
  const Vector f = centralised_optimum(parts, {.tolerance = 1e-10}).f;
  EXPECT_LT((gradient(parts[0], f) + gradient(parts[1], f)).norm(), 1e-10);
}

TEST(Metrics, CountErrorsAndResiduals) {
  Rows rows;
  rows.features = 1;
  const std::vector<std::int32_t> column = {0};
  for (const double x : {0.5, -0.5, 0.25, -0.25})
    rows.append(column, std::vector<double>{x}, x > 0.3 || x < -0.3 ? (x > 0 ? 1.0 : -1.0) : (x > 0 ? -1.0 : 1.0));
  EXPECT_EQ(test_error(rows, {}, Vector::Ones(1)), 0.5);
  EXPECT_EQ(test_error(rows, {}, -Vector::Ones(1)), 0.5);
  const Loss number{.kind = LossKind::huber};
  EXPECT_DOUBLE_EQ(test_error(rows, number, Vector::Ones(1), {.low = 100, .high = 300}),
                   100 * test_error(rows, number, Vector::Ones(1)))
      << "in the column's own unit";
  EXPECT_NEAR(mean_loss(rows, {}, Vector::Zero(1)), std::log(2.0), 1e-15);
}

}  // namespace
}  // namespace parley::problem
