// The exact minimum of a local problem, with a proof of its exactness.
//   argmin_f  Σ parts O(f) + lᵀf + (q/2)‖f‖²
// Newton's method with warm start and Armijo's rule. Up to `dense_limit` weights: the Cholesky factor of a Hessian,
// which then serves as preconditioner of conjugate gradients (one pass each, no exponential) until it is too far away;
// beyond: conjugate gradients with the diagonal. Every evaluation bounds its own rounding, so the certificate costs
// nothing. J is strongly convex, so the tolerance is always reachable down to rounding. Privacy: objective perturbation
// is proved for the exact minimum only (docs/proofs/minima.md); a solution is used only with its certificate, and the
// distance tolerance/κ that remains is covered by output noise that is charged for.
#pragma once
#include <span>

#include "parley/base/error.h"
#include "parley/problem/objective.h"
#include "parley/problem/reach.h"

namespace parley::problem {

struct Solution {
  Vector f;
  Certificate certificate;  // at f; certificate.bound() ≤ the tolerance asked for
  int iterations = 0;
};

// The Hessian of the loss at an earlier point a, to begin with from points near it. The logistic loss has |L‴| ≤ L″ and
// rows have ‖x‖ ≤ 1, so e^−r H(a) ≼ H(f) ≼ e^r H(a) with r = ‖f − a‖: within `reach` its factor is a preconditioner
// with eigenvalues in [0.67, 1.5], and no Hessian is needed. The bits of a solution depend on a, so a must be a
// function of released values.
struct Anchor {
  static constexpr double reach = 0.4;
  Vector point{};  // empty: none
  Matrix loss_hessian{};
  bool known = false;

  static bool near(const Vector& a, const Vector& f) { return a.size() == f.size() && (f - a).norm() <= reach; }
  void move_to(const Vector& to);  // keeps the Hessian where nothing moves
};

struct SolveOptions {
  double tolerance = 1e-9;  // on ‖∇J‖, rounding included
  int dense_limit = 400;    // weights (entries of f) up to which the Hessian is formed
  int max_iterations = 200;
  Anchor* anchor = nullptr;
  // Of a private release: certified by these numbers for any rows, not by the rounding of the rows at hand. The solver
  // then never gives up: where Newton's method does, gradient descent goes on until the tolerance is met.
  const Reach* reach = nullptr;
};

// Throws Error for the plain hinge, which has no gradient to certify, and, without a reach, Uncertified when the
// tolerance is below what double arithmetic can certify for these rows.
// Privacy: with a reach that is `certifiable`, whether it returns does not depend on rows.
Solution argmin(std::span<const Problem> parts, const Proximal& proximal, const Vector& start,
                const SolveOptions& options);
Solution argmin(const Problem& problem, const Proximal& proximal, const Vector& start, const SolveOptions& options);

// Privacy: in a private round this depends on public and released values alone (algorithm/private_update.cpp). A run that
// ended with it must not be tried again until it goes well: that would choose the noise.
class Uncertified : public Error {
 public:
  using Error::Error;
};

// The certificate at f, by the reach where there is one; reached: within the tolerance, and f within the radius.
Certificate certificate(const Evaluation& at, const Vector& f, double l1, const SolveOptions& options);
bool reached(const Certificate& certificate, const Vector& f, const SolveOptions& options);

// f ← prox(f − ∇S(f)/Λ), Λ = κ + c₁ Σ weight·rows, until the tolerance is met: slow and sure (docs/proofs/minima.md,
// theorem 4). For a release where Newton's method stalled. From f, or from 0 if f lies outside the radius.
Solution descend(std::span<const Problem> parts, const Proximal& proximal, Vector f, const SolveOptions& options);

[[noreturn]] void refuse(const Certificate& certificate, double tolerance, int iterations);  // that Error

// Σ_i O_i minimised over the pooled rows: the yardstick that no party could compute alone.
// Plain hinge: the smoothed hinge of width h lies above the hinge by at most h/4 (at margin 1) and nowhere below, so
// its minimum, found for h = 0.5, 0.1, …, each from the last, has a hinge objective within  W h/4 + tolerance²/(2κ)  of
// the least one, W = Σ weight · rows (times the largest class weight). The last h is hinge_width: 4·10⁻⁵ of mean loss. The certificate is that of the
// smoothed problem, to the tolerance asked for or hinge_tolerance · W if that is larger. With l1 alone ½·10⁻⁶W‖f‖² is
// added, and a width that cannot be solved ends the sequence early.
inline constexpr double hinge_width = 0.5 / 3125, hinge_tolerance = 1e-8;
// across: the parts are this process's share of them.
Solution centralised_optimum(std::span<const Problem> parts, const SolveOptions& options,
                             const SumAcross* across = nullptr);

}  // namespace parley::problem
