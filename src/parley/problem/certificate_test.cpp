#include <gtest/gtest.h>

#include <cmath>

#include "parley/problem/reach.h"
#include "parley/problem/rows_test.h"

namespace parley::problem {
namespace {

const std::vector<Loss> all_losses = {{.kind = LossKind::logistic},
                                      {.kind = LossKind::huber_hinge, .width = 0.5},
                                      {.kind = LossKind::hinge},
                                      {.kind = LossKind::huber, .width = 0.3},
                                      {.kind = LossKind::softmax, .classes = 4}};

Rows rows_for(const Loss& loss, std::size_t count) {
  return loss.kind == LossKind::softmax ? random_class_rows(count, 9, 0.6, 1, loss.classes)
                                        : random_rows(count, 9, 0.6, 1, !loss.classifies());
}

TEST(LossGradient, IsThatOfEvaluateWithoutTheRegulariser) {
  std::mt19937 draw(2);
  for (const Loss& loss : all_losses) {
    const Rows rows = rows_for(loss, 300);
    const Problem p{.rows = &rows, .loss = loss, .weight = 0.7, .regularization = 0.3, .l1 = 0.2},
        bare{.rows = &rows, .loss = loss, .weight = 0.7};
    const Vector f = random_vector(p.dimension(), 1, draw);
    const Vector found = loss_gradient(p, f);
    EXPECT_LT((found - gradient(bare, f)).norm(), 1e-12) << name_of(loss);
    EXPECT_LT((found + regularizer_gradient(p, f) - gradient(p, f)).norm(), 1e-12) << name_of(loss);
  }
}

// The sum of the rows' contributions, each as loss_gradient computes it alone, added in long double.
TEST(LossGradient, SummationRoundingBoundsWhatAddingUpTheRowsLoses) {
  std::mt19937 draw(4);
  for (const Loss& loss : all_losses) {
    const Rows rows = rows_for(loss, 5000);
    const Problem p{.rows = &rows, .loss = loss, .weight = 0.3};
    const Vector f = random_vector(p.dimension(), 2, draw);
    std::vector<long double> sum(static_cast<std::size_t>(f.size()));
    for (std::size_t n = 0; n < rows.count(); ++n) {
      const Rows one = rows.select(std::vector<std::size_t>{n});
      const Problem alone{.rows = &one, .loss = loss, .weight = 0.3};
      const Vector part = loss_gradient(alone, f);
      EXPECT_LE(part.norm(), 0.3 * loss.gradient_bound() * (1 + 1e-15)) << name_of(loss);
      for (Index j = 0; j < f.size(); ++j) sum[static_cast<std::size_t>(j)] += part[j];
    }
    const Vector all = loss_gradient(p, f);
    const double rounding = summation_rounding(sizes_of(p));
    EXPECT_LT(rounding, 0.3 * 5000 * 1e-13) << name_of(loss);
    long double square = 0;
    for (Index j = 0; j < f.size(); ++j) square += std::pow(sum[static_cast<std::size_t>(j)] - all[j], 2);
    EXPECT_LE(std::sqrt(square), static_cast<long double>(rounding)) << name_of(loss);
  }
}

TEST(LossGradient, OfTheHingeIsASubgradient) {
  std::mt19937 draw(6);
  const Rows rows = random_rows(100, 9, 0.6, 1);
  const Problem p{.rows = &rows, .loss = {.kind = LossKind::hinge}, .weight = 1};
  const auto value = [&](const Vector& f) {
    double sum = 0;
    for (std::size_t n = 0; n < rows.count(); ++n) sum += p.loss.value(score(rows, n, f), rows.label[n]);
    return sum;
  };
  for (int i = 0; i < 200; ++i) {
    const Vector f = random_vector(9, 2, draw), other = random_vector(9, 2, draw);
    EXPECT_GE(value(other), value(f) + loss_gradient(p, f).dot(other - f) - 1e-12);
  }
}

TEST(RegularizerGradient, HasSignZeroAtZero) {
  Rows rows;
  rows.features = 3;
  const Problem p{.rows = &rows, .regularization = 2, .l1 = 0.5};
  EXPECT_EQ(regularizer_gradient(p, Vector{{1, 0, -3}}), (Vector{{2.5, 0, -6.5}}));
}

TEST(Loss, TheSlopeOfANarrowSmoothedHingeNeverExceedsOne) {
  std::mt19937 draw(8);
  std::uniform_real_distribution<double> uniform;
  for (int i = 0; i < 100000; ++i) {
    const double width = std::pow(10, -6 * uniform(draw));
    const Loss loss{.kind = LossKind::huber_hinge, .width = width};
    EXPECT_LE(std::abs(loss.slope(1 - width, 1)), 1);
  }
}

}  // namespace
}  // namespace parley::problem
