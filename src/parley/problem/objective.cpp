#include "parley/problem/objective.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "parley/base/error.h"
#include "parley/problem/reach.h"
#include "parley/problem/row_sums.h"
#include "parley/problem/softmax.h"

namespace parley::problem {
namespace {

// Numbers that a part keeps in Evaluation::curvature.
std::size_t curvatures(const Problem& p) {
  return p.rows->count() * static_cast<std::size_t>(p.loss.scores());
}

std::size_t total_curvatures(std::span<const Problem> parts) {
  std::size_t sum = 0;
  for (const Problem& p : parts) sum += curvatures(p);
  return sum;
}

template <class Dense>
void add_across(const Proximal& proximal, Dense& values) {
  if (proximal.across != nullptr) (*proximal.across)({values.data(), static_cast<std::size_t>(values.size())});
}

// Of these rows: their own non-zeros and slopes. For yardsticks; a private round is certified by reach.h alone.
double gradient_rounding(const Problem& p, double size, double slopes) {
  const auto count = static_cast<double>(p.rows->count()), entries = static_cast<double>(p.rows->value.size());
  return loss_rounding(p.loss, p.weight, size,
                       {.records = count, .terms = entries + count, .slopes = slopes, .summation = summation_error(p)});
}

}  // namespace

double total_regularization(std::span<const Problem> parts) {
  double sum = 0;
  for (const Problem& p : parts) sum += p.regularization;
  return sum;
}

void evaluate(std::span<const Problem> parts, const Proximal& proximal, const Vector& f, Evaluation& out,
              Matrix* lower) {
  thread_local RowSums sums;
  thread_local Matrix part;
  const double ridge = total_regularization(parts) + proximal.quadratic, size = f.norm();
  out.gradient = ridge * f + proximal.linear;
  out.curvature.resize(total_curvatures(parts));
  out.rounding = 0x1p-50 * (ridge * size + proximal.linear.norm());
  out.value = 0.5 * ridge * f.squaredNorm() + proximal.linear.dot(f);
  const bool one_pass = lower != nullptr && parts.front().loss.kind != LossKind::softmax;
  if (one_pass) lower->setZero(f.size(), f.size());
  double* curvature = out.curvature.data();
  for (const Problem& p : parts) {
    sum_rows(p, f, sums, curvature, one_pass ? &part : nullptr);
    curvature += curvatures(p);
    out.value += p.weight * sums.value;
    out.gradient += sums.gradient;
    out.rounding += gradient_rounding(p, size, sums.slopes) + 0x1p-52 * p.weight * sums.slopes;
    if (one_pass) *lower += part;
  }
  if (one_pass) lower->diagonal().array() += ridge;
  if (one_pass) add_across(proximal, *lower);
  if (lower != nullptr && !one_pass) hessian(parts, proximal, out, *lower);
  if (proximal.across != nullptr) {
    std::array<double, 4> all = {out.value, out.rounding, out.gradient.norm(), 1};
    (*proximal.across)(all);
    out.value = all[0];
    out.rounding = all[1] + 0x1p-52 * all[3] * all[2];  // adding up the gradients rounds, too
    add_across(proximal, out.gradient);
  }
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
  add_across(proximal, lower);
}

void hessian_times(std::span<const Problem> parts, const Proximal& proximal, const Evaluation& at, const Vector& v,
                   Vector& out) {
  out = (total_regularization(parts) + proximal.quadratic) * v;
  const double* c = at.curvature.data();
  for (const Problem& p : parts) {
    if (p.loss.kind == LossKind::softmax)
      softmax_hessian_times(p, c, v, out);
    else
      add_hessian_times(*p.rows, c, v, out);
    c += curvatures(p);
  }
  add_across(proximal, out);
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
  add_across(proximal, out);
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
