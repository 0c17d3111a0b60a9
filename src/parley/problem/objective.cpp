#include "parley/problem/objective.h"

#include <cmath>
#include <limits>

#include "parley/base/error.h"

namespace parley::problem {
namespace {

double total_regularization(std::span<const Problem> parts) {
  double sum = 0;
  for (const Problem& p : parts) sum += p.regularization;
  return sum;
}

std::size_t total_rows(std::span<const Problem> parts) {
  std::size_t sum = 0;
  for (const Problem& p : parts) sum += p.rows->count();
  return sum;
}

}  // namespace

void evaluate(std::span<const Problem> parts, const Proximal& proximal, const Vector& f, Evaluation& out) {
  const double ridge = total_regularization(parts) + proximal.quadratic;
  out.gradient = ridge * f + proximal.linear;
  out.curvature.resize(total_rows(parts));
  double value = 0;
  std::size_t at = 0;
  double* const g = out.gradient.data();
  for (const Problem& p : parts) {
    const data::Rows& rows = *p.rows;
    const std::size_t count = rows.count();
    for (std::size_t n = 0; n < count; ++n) {
      const double s = score(rows, n, f), y = rows.label[n];
      double slope = 0;
      if (p.loss.kind == LossKind::logistic) {  // value, slope and curvature share one exponential
        const double z = y * s, e = std::exp(-std::abs(z)), inverse = 1 / (1 + e);
        value += p.weight * (std::max(-z, 0.0) + std::log1p(e));
        slope = -y * (z >= 0 ? e * inverse : inverse);
        out.curvature[at++] = p.weight * e * inverse * inverse;
      } else {
        value += p.weight * p.loss.value(s, y);
        slope = p.loss.slope(s, y);
        out.curvature[at++] = p.weight * p.loss.curvature(s, y);
      }
      const double scaled = p.weight * slope;
      for (std::size_t k = rows.start[n]; k < rows.start[n + 1]; ++k) g[rows.column[k]] += scaled * rows.value[k];
    }
  }
  out.value = value + 0.5 * ridge * f.squaredNorm() + proximal.linear.dot(f);
}

void hessian(std::span<const Problem> parts, const Proximal& proximal, const Evaluation& at, Matrix& lower) {
  const Index d = parts.front().features();
  lower.setZero(d, d);
  double* const h = lower.data();  // column-major: entry (row r, column c) is h[c·d + r], r ≥ c
  std::size_t i = 0;
  for (const Problem& p : parts) {
    const data::Rows& rows = *p.rows;
    for (std::size_t n = 0; n < rows.count(); ++n, ++i) {
      const double c = at.curvature[i];
      if (c == 0) continue;
      for (std::size_t a = rows.start[n]; a < rows.start[n + 1]; ++a) {
        const double scaled = c * rows.value[a];
        double* const column = h + static_cast<std::size_t>(rows.column[a]) * static_cast<std::size_t>(d);
        for (std::size_t b = a; b < rows.start[n + 1]; ++b) column[rows.column[b]] += scaled * rows.value[b];
      }
    }
  }
  lower.diagonal().array() += total_regularization(parts) + proximal.quadratic;
}

Vector hessian_times(std::span<const Problem> parts, const Proximal& proximal, const Evaluation& at, const Vector& v) {
  Vector out = (total_regularization(parts) + proximal.quadratic) * v;
  std::size_t i = 0;
  for (const Problem& p : parts) {
    const data::Rows& rows = *p.rows;
    for (std::size_t n = 0; n < rows.count(); ++n, ++i) {
      const double scaled = at.curvature[i] * score(rows, n, v);
      for (std::size_t k = rows.start[n]; k < rows.start[n + 1]; ++k) out[rows.column[k]] += scaled * rows.value[k];
    }
  }
  return out;
}

Vector hessian_diagonal(std::span<const Problem> parts, const Proximal& proximal, const Evaluation& at) {
  Vector out = Vector::Constant(parts.front().features(), total_regularization(parts) + proximal.quadratic);
  std::size_t i = 0;
  for (const Problem& p : parts) {
    const data::Rows& rows = *p.rows;
    for (std::size_t n = 0; n < rows.count(); ++n, ++i)
      for (std::size_t k = rows.start[n]; k < rows.start[n + 1]; ++k)
        out[rows.column[k]] += at.curvature[i] * rows.value[k] * rows.value[k];
  }
  return out;
}

Vector gradient(const Problem& problem, const Vector& f) {
  Evaluation at;
  evaluate({&problem, 1}, {.linear = Vector::Zero(f.size())}, f, at);
  return at.gradient;
}

// Rounding, with u = 2⁻⁵³, ‖x‖ ≤ 1 and Kahan's sums (error ≤ 2u Σ|terms| + O(n u²)):
//   score of a row   (entries + 1) u ‖f‖          → slope off by c₁ times that, and by 8u G of its own
//   each coordinate  2u Σ|terms|,  Σ over rows of weight·|slope|·‖x‖ in norm
//   the other terms  4u ((ρ/N + q)‖f‖ + ‖l‖)
// All first-order constants are doubled below, which covers the O(u²) terms for every n < 2⁵⁰.
Certificate certify(std::span<const Problem> parts, const Proximal& proximal, const Vector& f) {
  constexpr double u = std::numeric_limits<double>::epsilon() / 2;
  const double ridge = total_regularization(parts) + proximal.quadratic, size = f.norm();
  Vector sum = ridge * f + proximal.linear, lost = Vector::Zero(f.size());
  double rounding = 4 * u * (ridge * size + proximal.linear.norm());
  for (const Problem& p : parts) {
    const data::Rows& rows = *p.rows;
    for (std::size_t n = 0; n < rows.count(); ++n) {
      const double slope = p.loss.slope(score(rows, n, f), rows.label[n]), scaled = p.weight * slope;
      for (std::size_t k = rows.start[n]; k < rows.start[n + 1]; ++k) {
        const Index c = rows.column[k];
        const double term = scaled * rows.value[k] - lost[c], next = sum[c] + term;
        lost[c] = (next - sum[c]) - term;
        sum[c] = next;
      }
      const double entries = static_cast<double>(rows.start[n + 1] - rows.start[n]);
      rounding += p.weight * u * (p.loss.curvature_bound() * (entries + 1) * size + 8 * p.loss.gradient_bound() + 4 * std::abs(slope));
    }
  }
  return {.gradient_norm = sum.norm() * (1 + 1e-12), .rounding = 2 * rounding};
}

}  // namespace parley::problem
