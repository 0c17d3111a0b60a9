// The local objective of one node and the quadratic that ADMM adds to it.
//   O(f) = (C_i/B_i) Σ_n L(fᵀx_n, y_n) + (ρ/N) ½‖f‖² + (ρ₁/N) ‖f‖₁          Problem
//   J(f) = O(f) + lᵀf + (q/2)‖f‖²                              Problem + Proximal (every primal update has this form)
#pragma once
#include <span>
#include <vector>

#include "parley/base/vector.h"
#include "parley/data/dataset.h"
#include "parley/problem/loss.h"

namespace parley::problem {

struct Problem {
  const data::Rows* rows = nullptr;
  Loss loss;
  double weight = 0;          // C_i / B_i
  double regularization = 0;  // ρ/N, on ½‖f‖²
  double l1 = 0;              // ρ₁/N, on ‖f‖₁

  Index features() const { return rows->features; }
  Index dimension() const { return loss.scores() * rows->features; }  // of f; softmax: class after class
};

struct Proximal {
  Vector linear;         // l
  double quadratic = 0;  // q
};

// The loss part of Σ parts: value, gradient, and the curvature of every row (for the Hessian), in one pass over the
// rows.
struct Evaluation {
  double value = 0;
  Vector gradient;
  std::vector<double> curvature;  // weight · L''(row), rows of all parts one after another
};
void evaluate(std::span<const Problem> parts, const Proximal& proximal, const Vector& f, Evaluation& out);

// H = Σ_n c_n x_n x_nᵀ + (Σρ/N + q) I; only the lower triangle is filled.
void hessian(std::span<const Problem> parts, const Proximal& proximal, const Evaluation& at, Matrix& lower);

// H·v without forming H.
Vector hessian_times(std::span<const Problem> parts, const Proximal& proximal, const Evaluation& at, const Vector& v);
Vector hessian_diagonal(std::span<const Problem> parts, const Proximal& proximal, const Evaluation& at);

// Privacy: every bound assumes ‖x‖₂ ≤ 1 and labels −1 or +1 (in [−1, 1] for regression). Checked by make_node; readers
// clip, so a violation is a bug.
void check_rows(const data::Rows& rows, const Loss& loss);

// ∇O(f), for tests, metrics and attacks.
Vector gradient(const Problem& problem, const Vector& f);

// A proof that f is nearly the minimum: ‖∇J(f)‖ as computed afresh with compensated sums, and a bound on its rounding
// error. Since J is κ-strongly convex, ‖f − argmin J‖ ≤ bound()/κ.
struct Certificate {
  double gradient_norm = 0;
  double rounding = 0;
  double bound() const { return gradient_norm + rounding; }
};
Certificate certify(std::span<const Problem> parts, const Proximal& proximal, const Vector& f);

// fᵀx_n in four sums, so that additions need not wait for each other.
inline double score(const data::Rows& rows, std::size_t n, const Vector& f) {
  const std::int32_t* c = rows.column.data() + rows.start[n];
  const double* x = rows.value.data() + rows.start[n];
  const double* const end = rows.value.data() + rows.start[n + 1];
  const double* const w = f.data();
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  for (; end - x >= 4; x += 4, c += 4) {
    s0 += x[0] * w[c[0]];
    s1 += x[1] * w[c[1]];
    s2 += x[2] * w[c[2]];
    s3 += x[3] * w[c[3]];
  }
  for (; x != end; ++x, ++c) s0 += *x * w[*c];
  return (s0 + s1) + (s2 + s3);
}

}  // namespace parley::problem
