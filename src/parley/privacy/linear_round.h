// Linearised updates: a node takes the gradient of its loss at a public point and releases w + noise,
//   w = (public terms − a₀ Σ_n ∇L(public point; row n))/divisor.
// Adjacency: replace one record of one node. Theorems and proofs: docs/proofs/linear.md. Everything is rounded up.
//   dp-admm      HHCG20 Algorithm 3   a₀ = 1/m, divisor = ρ + 1/η         the point is the own released w̃
//   linear-admm  on any graph         a₀ = C/B, divisor = 2ηV + 1/step    the point is the own released f
#pragma once

namespace parley::privacy {

// ‖w(D) − w(D')‖ ≤ (2 G a₀ + 2e)/divisor (theorem U1), e bounding the rounding of the sum: what output_mu,
// output_epsilon and their inverses (gaussian_round.h, pure.h) price, given κ = divisor and tolerance = e.

// Logistic loss only, at a public point w with ‖w‖ ≤ norm: no two records with ‖x‖ ≤ 1 have gradients further apart
// than
//   Diam(R) = 2 max_{0≤a≤1} √(1 − a²)/(1 + e^{−aR}),  1 at R = 0, below 2 always, attained in two or more dimensions.
// Proved (lemma U2), never below the true value. Half of it takes the place of G.
double logistic_gradient_diameter(double norm);

}  // namespace parley::privacy
