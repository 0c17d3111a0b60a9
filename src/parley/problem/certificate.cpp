// Gradients in compensated sums (Kahan), and what they prove.
#include <algorithm>
#include <cmath>
#include <limits>

#include "parley/base/error.h"
#include "parley/problem/objective.h"
#include "parley/problem/softmax.h"

namespace parley::problem {
namespace {

constexpr double u = std::numeric_limits<double>::epsilon() / 2;

// sum[j] + its compensation; the error of coordinate j is at most 2u Σ|terms| + O(n u²).
struct CompensatedSum {
  Vector sum, lost;
  void add(Index j, double x) {
    const double term = x - lost[j], next = sum[j] + term;
    lost[j] = (next - sum[j]) - term;
    sum[j] = next;
  }
};

// to += weight · Σ_n L'(row n); returns Σ_n ‖L'‖ over the scores of row n, so weight times that bounds Σ_n ‖term n‖.
double add_loss_gradient(const Problem& p, const Vector& f, CompensatedSum& to) {
  const data::Rows& rows = *p.rows;
  double slopes = 0;
  if (p.loss.kind == LossKind::softmax) {
    std::vector<double> slope(static_cast<std::size_t>(p.loss.classes));
    for (std::size_t n = 0; n < rows.count(); ++n) {
      softmax_slope(p, n, f, slope);
      double square = 0;
      for (std::size_t c = 0; c < slope.size(); ++c) {
        const double scaled = p.weight * slope[c];
        const Index first = static_cast<Index>(c) * rows.features;
        square += slope[c] * slope[c];
        for (std::size_t k = rows.start[n]; k < rows.start[n + 1]; ++k)
          to.add(first + rows.column[k], scaled * rows.value[k]);
      }
      slopes += std::sqrt(square);
    }
    return slopes;
  }
  for (std::size_t n = 0; n < rows.count(); ++n) {
    const double slope = p.loss.slope(score(rows, n, f), rows.label[n]), scaled = p.weight * slope;
    slopes += std::abs(slope);
    for (std::size_t k = rows.start[n]; k < rows.start[n + 1]; ++k) to.add(rows.column[k], scaled * rows.value[k]);
  }
  return slopes;
}

}  // namespace

LossGradient loss_gradient(const Problem& problem, const Vector& f) {
  CompensatedSum sum{.sum = Vector::Zero(f.size()), .lost = Vector::Zero(f.size())};
  const double slopes = add_loss_gradient(problem, f, sum);
  return {.value = std::move(sum.sum), .rounding = 4 * u * problem.weight * slopes};  // twice 2u: covers O(n u²)
}

Vector regularizer_gradient(const Problem& problem, const Vector& f) {
  Vector out = problem.regularization * f;
  if (problem.l1 != 0) out += problem.l1 * f.cwiseSign();
  return out;
}

Vector shortest_subgradient(const Vector& g, const Vector& f, double l1) {
  Vector v = g;
  for (Index j = 0; l1 > 0 && j < g.size(); ++j) {
    if (f[j] != 0)
      v[j] += std::copysign(l1, f[j]);
    else
      v[j] = std::copysign(std::max(0.0, std::abs(g[j]) - l1), g[j]);
  }
  return v;
}

// Rounding, with u = 2⁻⁵³, ‖x‖ ≤ 1 and Kahan's sums (error ≤ 2u Σ|terms| + O(n u²)):
//   scores of a row  (entries + 1) u ‖f‖          → slope off by c₁ times that, and by 8u G of its own
//                                                   (softmax: (4K + 16)u, see softmax.cpp)
//   each coordinate  2u Σ|terms|,  Σ over rows of weight·|slope|·‖x‖ in norm
//   the other terms  4u ((ρ/N + q)‖f‖ + ‖l‖)
// All first-order constants are doubled below, which covers the O(u²) terms for every n < 2⁵⁰.
// The shortest subgradient moves no further than g does (it is −g minus its projection on l1 ∂‖f‖₁), so l1 adds only
// the rounding of one subtraction, u of the result, which the factor on its norm covers.
Certificate certify(std::span<const Problem> parts, const Proximal& proximal, const Vector& f) {
  double ridge = 0, l1 = 0;
  for (const Problem& p : parts) ridge += p.regularization, l1 += p.l1;
  ridge += proximal.quadratic;
  const double size = f.norm();
  CompensatedSum g{.sum = ridge * f + proximal.linear, .lost = Vector::Zero(f.size())};
  double rounding = 4 * u * (ridge * size + proximal.linear.norm());
  for (const Problem& p : parts) {
    expects(p.loss.smooth(), "a loss with a gradient");
    const double slopes = add_loss_gradient(p, f, g);
    const data::Rows& rows = *p.rows;
    const auto count = static_cast<double>(rows.count()), entries = static_cast<double>(rows.value.size());
    const double own = p.loss.kind == LossKind::softmax ? 4 * p.loss.classes + 16 : 8 * p.loss.gradient_bound();
    rounding += p.weight * u * (p.loss.curvature_bound() * (entries + count) * size + own * count + 4 * slopes);
  }
  const double norm = (l1 > 0 ? shortest_subgradient(g.sum, f, l1) : g.sum).norm();
  return {.gradient_norm = norm * (1 + static_cast<double>(f.size() + 4) * 2 * u), .rounding = 2 * rounding};
}

}  // namespace parley::problem
