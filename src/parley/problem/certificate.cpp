#include <algorithm>
#include <cmath>

#include "parley/base/error.h"
#include "parley/problem/objective.h"
#include "parley/problem/row_sums.h"

namespace parley::problem {

Vector loss_gradient(const Problem& problem, const Vector& f) {
  thread_local RowSums sums;
  thread_local std::vector<double> curvature;  // not needed here
  curvature.resize(problem.rows->count() * static_cast<std::size_t>(problem.loss.scores()));
  sum_rows(problem, f, sums, curvature.data(), nullptr);
  return sums.gradient;
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

// The shortest subgradient moves no further than g does (it is −g minus its projection on l1 ∂‖f‖₁), so l1 adds only
// the rounding of one subtraction, u of the result, which the factor on its norm covers.
Certificate certificate(const Evaluation& at, const Vector& f, double l1) {
  const double norm = l1 > 0 ? shortest_subgradient(at.gradient, f, l1).norm() : at.gradient.norm();
  return {.gradient_norm = norm * (1 + static_cast<double>(f.size() + 4) * 0x1p-52), .rounding = at.rounding};
}

Certificate certify(std::span<const Problem> parts, const Proximal& proximal, const Vector& f) {
  for (const Problem& p : parts) expects(p.loss.smooth(), "a loss with a gradient");
  double l1 = 0;
  for (const Problem& p : parts) l1 += p.l1;
  Evaluation at;
  evaluate(parts, proximal, f, at);
  return certificate(at, f, l1);
}

}  // namespace parley::problem
