#include "parley/problem/softmax.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <cstdlib>

#include "parley/base/error.h"
#include "parley/problem/metrics.h"
#include "parley/problem/rows_test.h"
#include "parley/problem/solve.h"

namespace parley::problem {
namespace {

Loss of(int classes) {
  return {.kind = LossKind::softmax, .classes = classes};
}

TEST(Softmax, GradientAndHessianMatchFiniteDifferences) {
  for (const double filled : {0.3, 1.0}) {  // entries one by one, panels
    const Rows rows = random_class_rows(60, 5, filled, 1, 4);
    const Problem p{.rows = &rows, .loss = of(4), .weight = 0.7, .regularization = 0.3};
    ASSERT_EQ(p.dimension(), 20);
    const Proximal proximal{.linear = Vector::LinSpaced(20, -1, 1), .quadratic = 0.4};
    const Vector f = Vector::LinSpaced(20, 2, -1.5);
    Evaluation at, up, down;
    evaluate({&p, 1}, proximal, f, at);
    Matrix lower;
    hessian({&p, 1}, proximal, at, lower);
    for (Index k = 0; k < 20; ++k) {
      const double h = 1e-6;
      evaluate({&p, 1}, proximal, f + h * Vector::Unit(20, k), up);
      evaluate({&p, 1}, proximal, f - h * Vector::Unit(20, k), down);
      EXPECT_NEAR(at.gradient[k], (up.value - down.value) / (2 * h), 1e-7);
      const Vector column = lower.selfadjointView<Eigen::Lower>() * Vector::Unit(20, k);
      EXPECT_LT((column - (up.gradient - down.gradient) / (2 * h)).norm(), 1e-5);
      Vector product;
      hessian_times({&p, 1}, proximal, at, Vector::Unit(20, k), product);
      EXPECT_LT((column - product).norm(), 1e-12);
      EXPECT_NEAR(column[k], hessian_diagonal({&p, 1}, proximal, at)[k], 1e-12);
    }
  }
}

// L(f_0, f_1) is the logistic loss of f_1 − f_0. With ½‖f‖² the minimum has f_0 = −f_1, so ½(‖f_0‖² + ‖f_1‖²) = ¼‖w‖²:
// half the regularisation of w = f_1 − f_0.
TEST(Softmax, WithTwoClassesIsLogisticRegressionOnTheDifference) {
  Rows signs = random_rows(150, 6, 0.7, 3), numbers = signs;
  for (double& y : numbers.label) y = y > 0 ? 1 : 0;
  const Vector f = Vector::LinSpaced(12, -3, 2);
  EXPECT_NEAR(mean_loss(numbers, of(2), f), mean_loss(signs, {}, f.tail(6) - f.head(6)), 1e-14);
  EXPECT_EQ(test_error(numbers, of(2), f), test_error(signs, {}, f.tail(6) - f.head(6)));
  const Problem soft{.rows = &numbers, .loss = of(2), .weight = 0.1, .regularization = 0.2},
      logistic{.rows = &signs, .weight = 0.1, .regularization = 0.1};
  const Vector two = argmin(soft, {.linear = Vector::Zero(12)}, f, {.tolerance = 1e-11}).f,
               one = argmin(logistic, {.linear = Vector::Zero(6)}, f.head(6), {.tolerance = 1e-11}).f;
  EXPECT_LT((two.head(6) + two.tail(6)).norm(), 1e-9);
  EXPECT_LT((two.tail(6) - two.head(6) - one).norm(), 1e-9);
}

TEST(Softmax, AMinimumThatWasBuiltBackwardsIsFoundDenselyAndByConjugateGradients) {
  const Rows rows = random_class_rows(200, 20, 0.4, 2, 5);
  const Problem p{.rows = &rows, .loss = of(5), .weight = 1.0 / 200, .regularization = 0.01};
  const Vector known = Vector::LinSpaced(100, -2, 3);
  for (const double quadratic : {0.5, 0.0})
    for (const int dense_limit : {400, 1}) {
      const Proximal proximal{.linear = -gradient(p, known) - quadratic * known, .quadratic = quadratic};
      const Solution found = argmin(p, proximal, Vector::Zero(100), {.tolerance = 1e-12, .dense_limit = dense_limit});
      EXPECT_LT((found.f - known).norm(), 1.1e-12 / (0.01 + quadratic)) << dense_limit;
      EXPECT_LE(found.certificate.bound(), 1e-12);
    }
}

TEST(Softmax, EveryNoisyRoundIsCertified) {
  const int draws = std::getenv("PARLEY_TEST_SHORT") ? 5 : 50;
  std::mt19937 draw(9);
  const Rows rows = random_class_rows(240, 30, 0.25, 8, 3);
  const double weight = 200.0 / 240;
  const Problem p{.rows = &rows, .loss = of(3), .weight = weight, .regularization = 0.044};
  Vector f = Vector::Zero(90);
  for (int i = 0; i < draws; ++i) {
    const Proximal proximal{.linear = random_vector(90, 15, draw) - 4 * f, .quadratic = 4};
    const Solution s = argmin(p, proximal, f, {.tolerance = 1e-6 * weight});
    EXPECT_LE(s.certificate.bound(), 1e-6 * weight);
    f = s.f;
  }
}

TEST(Softmax, TheCertificateBoundsTheTrueGradientNormAndRefusesAWrongPoint) {
  const Rows rows = random_class_rows(3000, 12, 0.5, 4, 3);
  const Problem p{.rows = &rows, .loss = of(3), .weight = 0.35, .regularization = 0.04};
  const Proximal proximal{.linear = Vector::LinSpaced(36, -3, 2), .quadratic = 4};
  for (const double tolerance : {1e-3, 1e-7, 2e-9}) {
    const Vector f = argmin(p, proximal, Vector::Zero(36), {.tolerance = tolerance}).f;
    std::vector<long double> g(36);
    for (Index k = 0; k < 36; ++k) g[static_cast<std::size_t>(k)] = 4.04L * f[k] + proximal.linear[k];
    for (std::size_t n = 0; n < rows.count(); ++n) {
      long double s[3] = {}, z = 0;
      for (std::size_t c = 0; c < 3; ++c)
        for (std::size_t k = rows.start[n]; k < rows.start[n + 1]; ++k)
          s[c] += static_cast<long double>(rows.value[k]) * f[static_cast<Index>(12 * c) + rows.column[k]];
      for (const long double x : s) z += std::exp(x);
      for (std::size_t c = 0; c < 3; ++c)
        for (std::size_t k = rows.start[n]; k < rows.start[n + 1]; ++k)
          g[12 * c + static_cast<std::size_t>(rows.column[k])] +=
              0.35L * (std::exp(s[c]) / z - (static_cast<double>(c) == rows.label[n] ? 1 : 0)) * rows.value[k];
    }
    long double square = 0;
    for (const long double x : g) square += x * x;
    const Certificate c = certify({&p, 1}, proximal, f);
    EXPECT_LE(std::sqrt(square), static_cast<long double>(c.bound()));
    EXPECT_NEAR(c.gradient_norm, static_cast<double>(std::sqrt(square)), c.rounding);
    EXPECT_LT(c.rounding, 2e-9);
    EXPECT_GT(certify({&p, 1}, proximal, f + 0.01 * Vector::Unit(36, 5)).bound(), 0.01 * 4);
  }
}

TEST(Softmax, SlopeAndCurvatureStayWithinTheBoundsThatPrivacyUses) {
  std::mt19937 draw(5);
  for (const int k : {2, 3, 10}) {
    for (int i = 0; i < 300; ++i) {
      Vector p = random_vector(k, std::pow(10, i % 4 - 1), draw);
      const std::size_t y = draw() % static_cast<std::size_t>(k);
      softmax({p.data(), static_cast<std::size_t>(k)}, y);
      long double sum = 0;
      for (const double x : p) sum += x;
      EXPECT_LE(sum, 1);
      EXPECT_NEAR(static_cast<double>(sum), 1, 1e-14);
      const Matrix h = Matrix(p.asDiagonal()) - p * p.transpose();
      EXPECT_LE(Eigen::SelfAdjointEigenSolver<Matrix>(h).eigenvalues().maxCoeff(), of(k).curvature_bound() + 1e-15);
      p[static_cast<Index>(y)] -= 1;
      EXPECT_LE(p.norm(), of(k).gradient_bound() * (1 + 1e-15));
    }
  }
}

TEST(Softmax, IsStableForScoresOfAThousandAndNearlyReachesItsGradientBound) {
  std::vector<double> s = {1000, -1000, 0};
  EXPECT_EQ(softmax(s, 1), 2000);
  EXPECT_NEAR(std::hypot(s[0], s[1] - 1, s[2]), std::sqrt(2.0), 1e-14);
  s = {40, 0};
  EXPECT_NEAR(softmax(s, 0), std::exp(-40.0), 1e-30);
}

TEST(Softmax, ATieIsTheSmallerClassNumberAndErrorsAreCounted) {
  Rows rows;
  rows.features = 1;
  const std::vector<std::int32_t> column = {0};
  for (const double y : {0.0, 1.0, 2.0}) rows.append(column, std::vector<double>{1}, y);
  EXPECT_NEAR(test_error(rows, of(3), Vector::Zero(3)), 2.0 / 3, 1e-15);
  EXPECT_EQ(softmax_class(rows, 0, Vector{{0, 1, 1}}, 3), 1U);
  EXPECT_NEAR(mean_loss(rows, of(3), Vector::Zero(3)), std::log(3.0), 1e-15);
}

TEST(Softmax, RowsMustHaveClassNumbers) {
  Rows rows;
  rows.features = 1;
  rows.append({}, {}, 2);
  EXPECT_NO_THROW(check_rows(rows, of(3)));
  EXPECT_THROW(check_rows(rows, of(2)), std::logic_error);
  for (const double y : {-1.0, 0.5}) {
    rows.label[0] = y;
    EXPECT_THROW(check_rows(rows, of(3)), std::logic_error);
  }
}

}  // namespace
}  // namespace parley::problem
