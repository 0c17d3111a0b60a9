// The local objective of one node and the quadratic that ADMM adds to it.
//   O(f) = (C_i/B_i) Σ_n L(fᵀx_n, y_n) + (ρ/N) ½‖f‖² + (ρ₁/N) ‖f‖₁          Problem
//   J(f) = O(f) + lᵀf + (q/2)‖f‖²                              Problem + Proximal (every primal update has this form)
#pragma once
#include <functional>
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

double total_regularization(std::span<const Problem> parts);  // Σ ρ/N

// Adds up numbers over the processes that hold the parts of one pooled problem; the same bits come back everywhere.
using SumAcross = std::function<void(std::span<double>)>;

struct Proximal {
  Vector linear;         // l
  double quadratic = 0;  // q
  // Set: the parts are one process's share of the problem, and so are l and q. For the yardstick of a simulation alone.
  const SumAcross* across = nullptr;
};

// The smooth part of J, which is J without ρ₁‖f‖₁: value, gradient, and the curvature of every row (for the Hessian),
// in one pass over the rows. Trap: where l1 > 0, J is value + l1 ‖f‖₁, and only proximal_newton.cpp adds that.
struct Evaluation {
  double value = 0;
  Vector gradient;
  // weight · L''(row), rows of all parts one after another; softmax: the K probabilities of the row instead.
  std::vector<double> curvature;
  double rounding = 0;  // ‖computed gradient − ∇‖ ≤ this (objective.cpp); infinite for the plain hinge
};
// lower, if given, becomes the Hessian there, in the same pass.
void evaluate(std::span<const Problem> parts, const Proximal& proximal, const Vector& f, Evaluation& out,
              Matrix* lower = nullptr);

// H = Σ_n c_n x_n x_nᵀ + (Σρ/N + q) I; only the lower triangle is filled.
void hessian(std::span<const Problem> parts, const Proximal& proximal, const Evaluation& at, Matrix& lower);

// H·v without forming H.
void hessian_times(std::span<const Problem> parts, const Proximal& proximal, const Evaluation& at, const Vector& v,
                   Vector& out);
Vector hessian_diagonal(std::span<const Problem> parts, const Proximal& proximal, const Evaluation& at);

// Privacy: every bound assumes ‖x‖₂ ≤ 1 and labels −1 or +1 (in [−1, 1] for regression, 0, …, K−1 for softmax). Checked
// by make_node; readers clip, so a violation is a bug.
void check_rows(const data::Rows& rows, const Loss& loss);

// ∇O(f), for tests, metrics and attacks; where O has kinks a subgradient, with sign(0) = 0 for ‖f‖₁.
Vector gradient(const Problem& problem, const Vector& f);

// The loss part of ∇O(f) alone, weight · Σ_n L'(row n), by sum_rows: what a linearised update releases with
// noise. Privacy: sensitivity counts each row's computed contribution as it is, a function of that row and f alone and
// of norm at most weight · G · (1 + 4u), u = 2⁻⁵³. Only adding them up joins rows, and that error is bounded for all
// rows by summation_rounding (reach.h).
Vector loss_gradient(const Problem& problem, const Vector& f);

// (ρ/N) f + (ρ₁/N) sign(f), sign(0) = 0: the rest of a subgradient of O. Touches no data.
Vector regularizer_gradient(const Problem& problem, const Vector& f);

// A proof that f is nearly the minimum: ‖∇J(f)‖ as computed, and a bound on its rounding error. Since J is κ-strongly
// convex, ‖f − argmin J‖ ≤ bound()/κ. With l1 > 0: the norm of the shortest subgradient v of J at f; strong
// monotonicity gives ‖v‖ ≥ κ‖f − argmin J‖ too. (The sums of the parts' ρ/N and ρ₁/N as computed define J.) Smooth
// losses only.
struct Certificate {
  double gradient_norm = 0;
  double rounding = 0;
  double bound() const { return gradient_norm + rounding; }
};
Certificate certificate(const Evaluation& at, const Vector& f, double l1);  // with the rounding of these rows
Certificate certify(std::span<const Problem> parts, const Proximal& proximal, const Vector& f);  // evaluates afresh

// The shortest vector of g + l1 ∂‖f‖₁:  g_j + l1 sign(f_j) | sign(g_j) max(0, |g_j| − l1)   for f_j ≠ 0 | = 0.
Vector shortest_subgradient(const Vector& g, const Vector& f, double l1);

// fᵀx_n in four sums, so that additions need not wait for each other.
inline double score(const data::Rows& rows, std::size_t n, const double* const w) {
  const std::int32_t* c = rows.column.data() + rows.start[n];
  const double* x = rows.value.data() + rows.start[n];
  const double* const end = rows.value.data() + rows.start[n + 1];
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
inline double score(const data::Rows& rows, std::size_t n, const Vector& f) {
  return score(rows, n, f.data());
}

}  // namespace parley::problem
