// Class weights: a row's loss is w_y L, and what privacy needs of it follows the largest weight.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "parley/problem/metrics.h"
#include "parley/problem/rows_test.h"
#include "parley/problem/solve.h"

namespace parley::problem {
namespace {

const std::vector<Loss> weighted_losses = {{.kind = LossKind::logistic, .class_weights = {0.3, 4}},
                                           {.kind = LossKind::logistic, .cap = 0.35, .class_weights = {5, 0.7}},
                                           {.kind = LossKind::huber_hinge, .width = 0.5, .class_weights = {1, 3}},
                                           {.kind = LossKind::hinge, .class_weights = {1, 3}}};

TEST(ClassWeights, MultiplyValueSlopeAndCurvatureOfTheirClass) {
  for (const Loss& loss : weighted_losses) {
    Loss plain = loss;
    plain.class_weights.clear();
    for (double score = -4.03; score < 4; score += 0.11)
      for (const double label : {-1.0, 1.0}) {
        const double w = loss.class_weights[label > 0 ? 1 : 0];
        EXPECT_EQ(loss.value(score, label), w * plain.value(score, label));
        EXPECT_EQ(loss.slope(score, label), w * plain.slope(score, label)) << "the cap is that of the loss itself";
        EXPECT_EQ(loss.curvature(score, label), w * plain.curvature(score, label));
      }
  }
}

TEST(ClassWeights, BothBoundsFollowTheLargestAndHoldOnAGrid) {
  for (const Loss& loss : weighted_losses) {
    double slope = 0, curvature = 0;
    for (double score = -1000; score <= 1000; score += 0.37)
      for (const double label : {-1.0, 1.0}) {
        slope = std::max(slope, std::abs(loss.slope(score, label)));
        curvature = std::max(curvature, loss.curvature(score, label));
      }
    EXPECT_LE(slope, loss.gradient_bound());
    EXPECT_GT(slope, 0.999 * loss.gradient_bound()) << "and they are reached";
    EXPECT_GE(loss.gradient_bound(), loss.largest_weight() * loss.plain_gradient_bound());
    if (!loss.smooth()) continue;
    EXPECT_LE(curvature, loss.curvature_bound());
    EXPECT_GT(curvature, 0.9 * loss.curvature_bound());
  }
  const Loss softmax{.kind = LossKind::softmax, .classes = 3, .class_weights = {1, 5, 2}};
  EXPECT_NEAR(softmax.gradient_bound(), 5 * std::sqrt(2), 1e-14);
  EXPECT_GE(softmax.curvature_bound(), 2.5);
}

// The rows of class c copied as often as its weight says.
Rows copied(const Rows& rows, const Loss& loss) {
  Rows copies;
  copies.features = rows.features;
  for (std::size_t n = 0; n < rows.count(); ++n)
    for (double k = 0; k < loss.weight_of(rows.label[n]); ++k)
      copies.append({rows.column.data() + rows.start[n], rows.start[n + 1] - rows.start[n]},
                    {rows.value.data() + rows.start[n], rows.start[n + 1] - rows.start[n]}, rows.label[n]);
  return copies;
}

// Logistic by the kernels, by blocks and threads, full and sparse; the other losses row by row; softmax.
TEST(ClassWeights, AWeightOfThreeIsThreeCopiesOfTheRow) {
  const std::vector<Loss> losses = {{.kind = LossKind::logistic, .class_weights = {1, 3}},
                                    {.kind = LossKind::logistic, .cap = 0.35, .class_weights = {2, 1}},
                                    {.kind = LossKind::huber_hinge, .width = 0.5, .class_weights = {1, 3}},
                                    {.kind = LossKind::softmax, .classes = 4, .class_weights = {1, 3, 2, 1}}};
  for (const Loss& loss : losses)
    for (const auto& [count, filled] : {std::pair<std::size_t, double>{203, 0.4}, {203, 1.0}, {20000, 1.0}}) {
      const Rows rows =
          loss.kind == LossKind::softmax ? random_class_rows(count, 5, filled, 1, 4) : random_rows(count, 5, filled, 1);
      Loss plain = loss;
      plain.class_weights.clear();
      const Rows copies = copied(rows, loss);
      const Problem p{.rows = &rows, .loss = loss, .weight = 0.7, .regularization = 0.3},
          same{.rows = &copies, .loss = plain, .weight = 0.7, .regularization = 0.3};
      const Vector f = Vector::LinSpaced(p.dimension(), 2, -1.5), v = Vector::LinSpaced(p.dimension(), 0, 1);
      const Proximal none{.linear = Vector::Zero(f.size())};
      const double size = 1e-12 * static_cast<double>(copies.count());
      Evaluation one, other;
      Matrix h, other_h;
      evaluate({&p, 1}, none, f, one, &h);
      evaluate({&same, 1}, none, f, other, &other_h);
      EXPECT_NEAR(one.value, other.value, size);
      EXPECT_LT((one.gradient - other.gradient).norm(), size);
      EXPECT_LT((loss_gradient(p, f) - loss_gradient(same, f)).norm(), size);
      EXPECT_LT((Matrix(h.triangularView<Eigen::Lower>()) - Matrix(other_h.triangularView<Eigen::Lower>())).norm(),
                size);
      Vector times, other_times;
      hessian_times({&p, 1}, none, one, v, times);
      hessian_times({&same, 1}, none, other, v, other_times);
      EXPECT_LT((times - other_times).norm(), size);
      EXPECT_LT((hessian_diagonal({&p, 1}, none, one) - hessian_diagonal({&same, 1}, none, other)).norm(), size);
      const auto n = static_cast<double>(rows.count()), m = static_cast<double>(copies.count());
      EXPECT_NEAR(mean_loss(rows, loss, f) * n, mean_loss(copies, plain, f) * m, size) << "of what is minimised";
      EXPECT_EQ(test_error(rows, loss, f), test_error(rows, plain, f)) << "an error counts rows";
    }
}

TEST(ClassWeights, TheYardstickOfTheHingeHasThem) {
  const Rows rows = random_rows(300, 4, 0.8, 5);
  const Loss loss{.kind = LossKind::hinge, .class_weights = {1, 3}};
  const Rows copies = copied(rows, loss);
  const Problem p{.rows = &rows, .loss = loss, .weight = 1, .regularization = 1},
      same{.rows = &copies, .loss = {.kind = LossKind::hinge}, .weight = 1, .regularization = 1};
  const Vector f = centralised_optimum({&p, 1}, {.tolerance = 1e-7}).f,
               other = centralised_optimum({&same, 1}, {.tolerance = 1e-7}).f;
  EXPECT_LT((f - other).norm(), 1e-3);
  EXPECT_GT(f.norm(), 0.1);
}

// Privacy: with class weights, too, the gradient of a row stays in w_max times the ball of lemma U2.
TEST(ClassWeights, GradientsAreNoFurtherApartThanTheLargestWeightTimesTheDiameter) {
  const Loss loss{.kind = LossKind::logistic, .class_weights = {1, 4}};
  for (const double size : {0.0, 1.0, 5.0}) {
    double most = 0;
    for (double a = 0; a < 3.15; a += 0.05)
      for (double b = 0; b < 6.29; b += 0.05)
        for (const double y : {-1.0, 1.0}) {  // (cos a, sin a) of class 1, (cos b, sin b) of class y, f = (size, 0)
          const double s = loss.slope(size * std::cos(a), 1), t = loss.slope(size * std::cos(b), y);
          most = std::max(most, std::hypot(s * std::cos(a) - t * std::cos(b), s * std::sin(a) - t * std::sin(b)));
        }
    double diameter = 0;  // of lemma U2
    for (double a = 0; a <= 1; a += 1e-3)
      diameter = std::max(diameter, 2 * std::sqrt(1 - a * a) / (1 + std::exp(-a * size)));
    EXPECT_LE(most, 4 * diameter * (1 + 1e-5)) << size;
    EXPECT_GT(most, 0.99 * 4 * diameter) << size;
  }
}

}  // namespace
}  // namespace parley::problem
