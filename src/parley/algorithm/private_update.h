// The two functions of a node that read its rows. Both return what may leave: noise included, on the public grid.
//   exact   argmin_f O(f) + lᵀf + (q/2)‖f‖² with b in l, certified, plus noise on the output
//   linear  f − { ∇O(f) + n + p } / divisor, n the noise on the gradient;  f and p are functions of released values
#pragma once
#include "parley/algorithm/schedule.h"
#include "parley/privacy/random.h"
#include "parley/problem/solve.h"

namespace parley::algorithm {

// Privacy: objective and/or output noise by the round's plan, charge by pricing.h. The minimum is certified to
// ‖∇J‖ ≤ schedule.tolerance, which the charge covers (docs/proofs/minima.md). Throws Uncertified before a row is read
// and before noise is drawn, on public and released values alone.
Vector noisy_minimum(const problem::Problem& problem, problem::Proximal terms, const Vector& start, const Schedule& s,
                     const PrivateRound& now, problem::Anchor& anchor, privacy::Random& random);

// Where a node's Hessian is kept from (speed only): the last point that `start` has left by more than the reach. A
// function of released values, so that a rebuilt state finds the same one.
Vector anchor_for(const Vector& anchor, const Vector& start, const Schedule& s);

// Privacy: sensitivity (2Ga₀ + 2·tolerance)/divisor, since one row adds at most Ga₀ to ∇O(f) and the sum over any rows
// rounds by less than half the tolerance (docs/proofs/linear.md). No minimum, so nothing to certify.
Vector noisy_linear_step(const problem::Problem& problem, const Vector& f, const Vector& pull, const Schedule& s,
                         const PrivateRound& now, privacy::Random& random);

// What the noise for gradients 2G apart may be multiplied by at the released f, of the logistic loss:
// (a₀ Diam(‖f‖) + 2τ)/(2Ga₀ + 2τ) ≤ 1, rounded up, a₀: weight times the largest class weight. τ also covers the error of one computed gradient, (d‖f‖/4 + 4)u (docs/proofs/linear.md, section 1).
double noise_share(const problem::Loss& loss, double weight, double tolerance, bool at_point, const Vector& f);

// Released coordinates are clamped to the public bound and rounded to the public grid: a function of the noisy value,
// hence free. bound/grid ≤ 2⁵¹ leaves them exact in a double.
Vector snap(const Vector& value, double bound, double grid);

}  // namespace parley::algorithm
