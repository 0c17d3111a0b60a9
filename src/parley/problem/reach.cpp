#include "parley/problem/reach.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "parley/problem/row_sums.h"

namespace parley::problem {
namespace {

constexpr double u = 0x1p-53, outward = 1 + 1e-9;

double weights(const Sizes& s) {
  return s.features * s.loss.scores();
}

// ‖∇(loss and l1)‖ ≤ C_i G + ρ₁√d
double pull_of_rows(const Sizes& s) {
  return s.weight * s.records * s.loss.gradient_bound() + s.l1 * std::sqrt(weights(s));
}

// Terms that wait for each other in the score of a row of n ≤ d entries: four or eight sums run side by side
// (kernels.h, objective.h): n/4 + 6 for sparse rows, n/8 + 11 for full ones; n + 1 in any order.
double chain(double features) {
  return std::min(features + 1, features / 4 + 11);
}

double most_slopes(const Sizes& s) {  // Σ‖slope‖ as computed: each has an error of its own, loss_rounding's
  return s.records * (s.loss.gradient_bound() + 1e-12 * (1 + s.loss.scores()) * s.loss.largest_weight());
}

double worst_rounding(const Sizes& s, double size, double linear, double convexity) {
  const double slopes = most_slopes(s);
  const double rows = loss_rounding(s.loss, s.weight, size,
                                    {.records = s.records,
                                     .terms = s.records * chain(s.features),
                                     .slopes = slopes,
                                     .summation = worst_summation_error(s.features)});
  // κf + l, one addition of each part, and ½ulp of f itself, which the gradient follows by κ + c₁C_i.
  const double moved = convexity + s.loss.curvature_bound() * s.weight * s.records;
  return (rows + 0x1p-50 * (convexity * size + linear) + 0x1p-52 * s.weight * slopes + u * moved * size) * outward;
}

}  // namespace

Sizes sizes_of(const Problem& p) {
  return {.records = static_cast<double>(p.rows->count()),
          .features = static_cast<double>(p.features()),
          .loss = p.loss,
          .weight = p.weight,
          .l1 = p.l1};
}

double loss_rounding(const Loss& loss, double weight, double size, const LossRounding& r) {
  if (!loss.smooth()) return std::numeric_limits<double>::infinity();
  const double own =
      loss.kind == LossKind::softmax ? (4 * loss.classes + 16) * loss.largest_weight() : 16 * loss.gradient_bound();
  const double scores = loss.curvature_bound() * r.terms * size;
  return weight * (2 * u * (scores + own * r.records) +
                   r.summation * r.slopes);  // doubled: covers O(u²), and u for the product with a class weight
}

Reach reach(const Sizes& s, double linear, double convexity, double tolerance) {
  const double radius = (linear + pull_of_rows(s) + tolerance) / convexity * outward;
  return {.radius = radius, .rounding = worst_rounding(s, radius, linear, convexity)};
}

Reach reach_within(const Sizes& s, double bound, double noise, double convexity, double tolerance) {
  const double size = bound * std::sqrt(weights(s)), without = convexity * size + noise + pull_of_rows(s) + tolerance;
  return reach(s, (without + noise) * outward, convexity, tolerance);
}

double certifiable_tolerance(const Sizes& s, const Reach& r) {
  return r.rounding / (s.l1 > 0 ? certifiable_share_l1 : certifiable_share);
}

double summation_rounding(const Sizes& s) {
  return worst_summation_error(s.features) * s.weight * most_slopes(s) * outward;
}

}  // namespace parley::problem
