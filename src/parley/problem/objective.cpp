#include "parley/problem/objective.h"

#include <algorithm>
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

// Σ ln(1 + e_n), 0 ≤ e_n ≤ 1, as logarithms of products: 512 factors in [1, 2] stay below 2⁵¹², so one logarithm serves
// 512 rows. Off by at most 2u per row, which is nothing beside ln 2 at f = 0.
class LogSum {
 public:
  void add(double e) {
    product_ *= 1 + e;
    if (++factors_ == 512) flush();
  }
  double value() {
    flush();
    return sum_;
  }

 private:
  void flush() {
    sum_ += std::log(product_);
    product_ = 1;
    factors_ = 0;
  }
  double product_ = 1, sum_ = 0;
  int factors_ = 0;
};

// lower += Σ_n c_n x_n x_nᵀ, entry by entry: entries²/2 scattered additions per row. Two columns at a time share the
// loads.
void add_outer_products(const data::Rows& rows, const double* c, Matrix& lower) {
  const Index d = lower.rows();
  for (std::size_t n = 0; n < rows.count(); ++n) {
    if (c[n] == 0) continue;
    const std::int32_t* const column = rows.column.data() + rows.start[n];
    const double* const x = rows.value.data() + rows.start[n];
    const std::size_t entries = rows.start[n + 1] - rows.start[n];
    std::size_t a = 0;
    for (; a + 1 < entries; a += 2) {
      const double s0 = c[n] * x[a], s1 = c[n] * x[a + 1];
      double* const h0 = lower.data() + column[a] * d;  // a column of H
      double* const h1 = lower.data() + column[a + 1] * d;
      h0[column[a]] += s0 * x[a];
      for (std::size_t b = a + 1; b < entries; ++b) {
        const double v = x[b];
        const std::int32_t r = column[b];
        h0[r] += s0 * v;
        h1[r] += s1 * v;
      }
    }
    if (a < entries) lower(column[a], column[a]) += c[n] * x[a] * x[a];
  }
}

// The same for rows that are mostly full: panels P of √c_n x_n side by side, lower += P Pᵀ as a matrix product.
void add_outer_products_by_panels(const data::Rows& rows, const double* c, Matrix& lower) {
  constexpr std::size_t width =
      128;  // one block of Eigen's product on every machine: the bits do not depend on cache sizes
  Matrix panel(lower.rows(), static_cast<Index>(width));
  for (std::size_t first = 0; first < rows.count(); first += width) {
    panel.setZero();
    for (std::size_t n = first; n < std::min(first + width, rows.count()); ++n) {
      const double root = std::sqrt(c[n]);
      double* const x = panel.col(static_cast<Index>(n - first)).data();
      for (std::size_t k = rows.start[n]; k < rows.start[n + 1]; ++k) x[rows.column[k]] = root * rows.value[k];
    }
    lower.selfadjointView<Eigen::Lower>().rankUpdate(panel);
  }
}

}  // namespace

void evaluate(std::span<const Problem> parts, const Proximal& proximal, const Vector& f, Evaluation& out) {
  const double ridge = total_regularization(parts) + proximal.quadratic;
  out.gradient = ridge * f + proximal.linear;
  out.curvature.resize(total_rows(parts));
  double value = 0;
  double* curvature = out.curvature.data();
  double* const g = out.gradient.data();
  for (const Problem& p : parts) {
    const data::Rows& rows = *p.rows;
    const std::size_t count = rows.count();
    double sum = 0;
    LogSum logs;
    for (std::size_t n = 0; n < count; ++n) {
      const double s = score(rows, n, f), y = rows.label[n];
      double slope = 0;
      if (p.loss.kind == LossKind::logistic) {  // value, slope and curvature share one exponential
        const double z = y * s, e = std::exp(-std::abs(z)), inverse = 1 / (1 + e);
        sum += std::max(-z, 0.0);
        logs.add(e);
        slope = -y * (z >= 0 ? e * inverse : inverse);
        *curvature++ = p.weight * e * inverse * inverse;
      } else {
        sum += p.loss.value(s, y);
        slope = p.loss.slope(s, y);
        *curvature++ = p.weight * p.loss.curvature(s, y);
      }
      const double scaled = p.weight * slope;
      for (std::size_t k = rows.start[n]; k < rows.start[n + 1]; ++k) g[rows.column[k]] += scaled * rows.value[k];
    }
    value += p.weight * (sum + logs.value());
  }
  out.value = value + 0.5 * ridge * f.squaredNorm() + proximal.linear.dot(f);
}

void hessian(std::span<const Problem> parts, const Proximal& proximal, const Evaluation& at, Matrix& lower) {
  const Index d = parts.front().features();
  lower.setZero(d, d);
  const double* c = at.curvature.data();
  for (const Problem& p : parts) {
    const bool mostly_full = 2 * p.rows->value.size() > p.rows->count() * static_cast<std::size_t>(d);
    if (mostly_full)
      add_outer_products_by_panels(*p.rows, c, lower);
    else
      add_outer_products(*p.rows, c, lower);
    c += p.rows->count();
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

void check_rows(const data::Rows& rows, const Loss& loss) {
  for (std::size_t n = 0; n < rows.count(); ++n) {
    long double square = 0;
    for (std::size_t k = rows.start[n]; k < rows.start[n + 1]; ++k)
      square += static_cast<long double>(rows.value[k]) * rows.value[k];
    expects(square <= 1, "rows of norm at most 1");
    expects(loss.classifies() ? std::abs(rows.label[n]) == 1 : std::abs(rows.label[n]) <= 1,
            "labels of −1 and +1, or targets in [−1, 1]");
  }
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
    double slopes = 0;  // Σ|slope|
    for (std::size_t n = 0; n < rows.count(); ++n) {
      const double slope = p.loss.slope(score(rows, n, f), rows.label[n]), scaled = p.weight * slope;
      slopes += std::abs(slope);
      for (std::size_t k = rows.start[n]; k < rows.start[n + 1]; ++k) {
        const Index c = rows.column[k];
        const double term = scaled * rows.value[k] - lost[c], next = sum[c] + term;
        lost[c] = (next - sum[c]) - term;
        sum[c] = next;
      }
    }
    const auto count = static_cast<double>(rows.count()), entries = static_cast<double>(rows.value.size());
    rounding +=
        p.weight * u *
        (p.loss.curvature_bound() * (entries + count) * size + 8 * p.loss.gradient_bound() * count + 4 * slopes);
  }
  return {.gradient_norm = sum.norm() * (1 + static_cast<double>(f.size() + 4) * 2 * u), .rounding = 2 * rounding};
}

}  // namespace parley::problem
