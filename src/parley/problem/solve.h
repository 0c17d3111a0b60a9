// The exact minimum of a local problem, with a proof of its exactness.
//   argmin_f  Σ parts O(f) + lᵀf + (q/2)‖f‖²
// Newton's method with warm start and Armijo's rule: Cholesky of the Hessian up to `dense_limit` features,
// preconditioned conjugate gradients beyond. A step that is predicted to be the last goes to the certificate at once,
// and with the old factor when that is predicted to do; a wrong prediction costs time, never accuracy. J is strongly
// convex, so the tolerance is always reachable down to rounding. Privacy: objective perturbation is proved for the
// exact minimum only (docs/privacy.md); a solution is used only with its certificate, and the distance tolerance/κ that
// remains is covered by output noise that is charged for.
#pragma once
#include <span>

#include "parley/problem/objective.h"

namespace parley::problem {

struct Solution {
  Vector f;
  Certificate certificate;  // recomputed at f; certificate.bound() ≤ the tolerance asked for
  int iterations = 0;
};

struct SolveOptions {
  double tolerance = 1e-9;  // on ‖∇J‖, rounding included
  int dense_limit = 400;    // features up to which the Hessian is formed
  int max_iterations = 200;
};

// Throws Error when the tolerance is below what double arithmetic can certify here.
Solution argmin(std::span<const Problem> parts, const Proximal& proximal, const Vector& start,
                const SolveOptions& options);
Solution argmin(const Problem& problem, const Proximal& proximal, const Vector& start, const SolveOptions& options);

// Σ_i O_i minimised over the pooled rows: the yardstick that no party could compute alone.
Solution centralised_optimum(std::span<const Problem> parts, const SolveOptions& options);

}  // namespace parley::problem
