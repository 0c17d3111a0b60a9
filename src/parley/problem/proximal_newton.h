// The minimum of a problem with kinks in its regulariser:  J(f) = S(f) + ρ₁‖f‖₁,  S smooth and strongly convex.
// Proximal Newton (Lee, Sun, Saunders: Proximal Newton-type methods for minimizing composite functions, 2014): each
// step minimises the model  gᵀd + ½dᵀHd + ρ₁‖f + d‖₁  by coordinate descent, which finds the zeros, then by a Cholesky
// factor of H on the weights that are left, which finds their values; Armijo's rule on J.
#pragma once
#include "parley/problem/solve.h"

namespace parley::problem {

inline constexpr Index most_l1_weights = 5000;  // H then takes 200 MB, and so does its factor

// As argmin, for parts with l1 > 0; called by it. The Hessian is formed: at most most_l1_weights.
Solution proximal_newton(std::span<const Problem> parts, const Proximal& proximal, const Vector& start,
                         const SolveOptions& options);

double soft_threshold(double x, double threshold);  // the minimum of ½(z − x)² + threshold·|z|

}  // namespace parley::problem
