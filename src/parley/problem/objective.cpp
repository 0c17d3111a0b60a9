#include "parley/problem/objective.h"

#include <algorithm>
#include <cmath>

#include "parley/base/error.h"
#include "parley/problem/outer_products.h"
#include "parley/problem/softmax.h"

namespace parley::problem {
namespace {

double total_regularization(std::span<const Problem> parts) {
  double sum = 0;
  for (const Problem& p : parts) sum += p.regularization;
  return sum;
}

// Numbers that a part keeps in Evaluation::curvature.
std::size_t curvatures(const Problem& p) {
  return p.rows->count() * static_cast<std::size_t>(p.loss.scores());
}

std::size_t total_curvatures(std::span<const Problem> parts) {
  std::size_t sum = 0;
  for (const Problem& p : parts) sum += curvatures(p);
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

}  // namespace

void evaluate(std::span<const Problem> parts, const Proximal& proximal, const Vector& f, Evaluation& out) {
  const double ridge = total_regularization(parts) + proximal.quadratic;
  out.gradient = ridge * f + proximal.linear;
  out.curvature.resize(total_curvatures(parts));
  double value = 0;
  double* curvature = out.curvature.data();
  double* const g = out.gradient.data();
  for (const Problem& p : parts) {
    if (p.loss.kind == LossKind::softmax) {
      value += p.weight * softmax_evaluate(p, f, curvature, out.gradient);
      curvature += curvatures(p);
      continue;
    }
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
  const Index size = parts.front().dimension();
  lower.setZero(size, size);
  const double* c = at.curvature.data();
  for (const Problem& p : parts) {
    if (p.loss.kind == LossKind::softmax)
      softmax_hessian(p, c, lower);
    else
      add_outer_products(*p.rows, c, lower);
    c += curvatures(p);
  }
  lower.diagonal().array() += total_regularization(parts) + proximal.quadratic;
}

Vector hessian_times(std::span<const Problem> parts, const Proximal& proximal, const Evaluation& at, const Vector& v) {
  Vector out = (total_regularization(parts) + proximal.quadratic) * v;
  const double* c = at.curvature.data();
  for (const Problem& p : parts) {
    const data::Rows& rows = *p.rows;
    if (p.loss.kind == LossKind::softmax) {
      softmax_hessian_times(p, c, v, out);
    } else {
      for (std::size_t n = 0; n < rows.count(); ++n) {
        const double scaled = c[n] * score(rows, n, v);
        for (std::size_t k = rows.start[n]; k < rows.start[n + 1]; ++k) out[rows.column[k]] += scaled * rows.value[k];
      }
    }
    c += curvatures(p);
  }
  return out;
}

Vector hessian_diagonal(std::span<const Problem> parts, const Proximal& proximal, const Evaluation& at) {
  Vector out = Vector::Constant(parts.front().dimension(), total_regularization(parts) + proximal.quadratic);
  const double* c = at.curvature.data();
  for (const Problem& p : parts) {
    const data::Rows& rows = *p.rows;
    if (p.loss.kind == LossKind::softmax) {
      softmax_hessian_diagonal(p, c, out);
    } else {
      for (std::size_t n = 0; n < rows.count(); ++n)
        for (std::size_t k = rows.start[n]; k < rows.start[n + 1]; ++k)
          out[rows.column[k]] += c[n] * rows.value[k] * rows.value[k];
    }
    c += curvatures(p);
  }
  return out;
}

void check_rows(const data::Rows& rows, const Loss& loss) {
  for (std::size_t n = 0; n < rows.count(); ++n) {
    long double square = 0;
    for (std::size_t k = rows.start[n]; k < rows.start[n + 1]; ++k)
      square += static_cast<long double>(rows.value[k]) * rows.value[k];
    expects(square <= 1, "rows of norm at most 1");
    const double y = rows.label[n];
    if (loss.kind == LossKind::softmax)
      expects(y >= 0 && y < loss.classes && y == std::floor(y), "labels that are class numbers 0, …, K−1");
    else
      expects(loss.classifies() ? std::abs(y) == 1 : std::abs(y) <= 1, "labels of −1 and +1, or targets in [−1, 1]");
  }
}

Vector gradient(const Problem& problem, const Vector& f) {
  Evaluation at;
  evaluate({&problem, 1}, {.linear = Vector::Zero(f.size())}, f, at);
  if (problem.l1 != 0) at.gradient += problem.l1 * f.cwiseSign();
  return at.gradient;
}

}  // namespace parley::problem
