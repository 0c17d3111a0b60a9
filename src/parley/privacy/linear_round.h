// Linearised updates: a node takes the gradient of its loss at a public point and releases w + noise,
//   w = (public terms − a₀ Σ_n ∇L(public point; row n))/divisor.
// Adjacency: replace one record of one node. Theorems and proofs: docs/privacy-linear.md. Everything is rounded up.
//   dp-admm      HHCG20 Algorithm 3   a₀ = 1/m, divisor = ρ + 1/η         the point is the own released w̃
//   linear-admm  on any graph         a₀ = C/B, divisor = 2ηV + 1/step    the point is the own released f
#pragma once

namespace parley::privacy {

// ‖w(D) − w(D')‖ ≤ (2 G a₀ + 2·rounding)/divisor (theorem U1). `gradient_bound` G ≥ the norm of one record's gradient
// at the point, or half of the diameter of all such gradients. `rounding` bounds the distance, in units of the
// gradient, between w as computed and w in real arithmetic, for all rows: a public number, never one computed from
// them. Price: Gaussian noise σ is μ-GDP with μ = sensitivity/σ, noise ∝ exp(−rate‖n‖) is ε-DP with ε =
// rate·sensitivity. output_mu, output_epsilon and their inverses compute these, given κ = divisor and tolerance =
// rounding.
double linear_sensitivity(double gradient_weight, double gradient_bound, double rounding, double divisor);

// As printed, HHCG20 Theorem 1: σ = 2 S₁ √(2 ln(1.25/δ))/(m ε (ρ + 1/η)) for (ε, δ) in one iteration. Never
// claim (ε, δ) from it: for ε ≤ 1 that is too much noise, for large ε too little. What it is worth is dp_admm_mu.
double dp_admm_scale(double rows, double gradient_bound, double penalty, double step_size, double iteration_epsilon,
                     double iteration_delta);

// Logistic loss only, at a public point w with ‖w‖ ≤ norm: no two records with ‖x‖ ≤ 1 have gradients further apart
// than
//   Diam(R) = 2 max_{0≤a≤1} √(1 − a²)/(1 + e^{−aR}),  1 at R = 0, below 2 always, attained in two or more dimensions.
// Proved (lemma U2), never below the true value. Use half of it as `gradient_bound`.
double logistic_gradient_diameter(double norm);

}  // namespace parley::privacy
