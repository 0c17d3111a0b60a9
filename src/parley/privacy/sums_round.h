// Sums over the rows of one node with Gaussian noise: what newton and dp-gd release in a round. Adjacency: replace one
// record. Proofs: docs/check/newton.md, theorem N1. Everything is rounded up.
//   gradients   ‖cut(∇L(f; r)) − cut(∇L(f; r'))‖ ≤ 2G                       μ_g = (2G + 2e)/σ
//   curvature   ‖x xᵀ − z zᵀ‖_F ≤ √2, ‖x∘x − z∘z‖ ≤ √2 for ‖x‖, ‖z‖ ≤ 1     μ_S = (√2 + 2e_S)/s
//   Hessian     ‖w x xᵀ − v z zᵀ‖_F ≤ √2 c₁ for 0 ≤ w, v ≤ c₁               μ_H = (√2 c₁ + 2e_S)/s_H
//   spread      the same of (L')² x xᵀ with (L')² ≤ 1                       μ_J = (√2 + 2e_S)/s_J
//   squares     |y² − u²| ≤ 1 for |y|, |u| ≤ 1                              μ_y = (1 + 2e_S)/s_y
//   together    μ² = the sum of the squares, the noises being independent
// The last three are of the final phase (docs/check/newton.md, theorem N2).
#pragma once

namespace parley::privacy {

struct SumsRound {
  double gradient_bound = 0;       // G
  double gradient_scale = 0;       // σ; 0: there is no gradient, or no noise
  double tolerance = 0;            // e: adding up rounds by at most this
  double curvature_scale = 0;      // s; 0: no curvature in this round
  double curvature_tolerance = 0;  // e_S, of all sums of products
  double hessian_bound = 0;        // c₁
  double hessian_scale = 0;        // s_H; 0: none in this round. So are the others'
  double spread_scale = 0;         // s_J
  double square_scale = 0;         // s_y
};
double sums_mu(const SumsRound& round);

// The least noise whose charge does not exceed mu.
double gradient_scale_for(double gradient_bound, double mu, double tolerance);
double curvature_scale_for(double mu, double tolerance);
double hessian_scale_for(double hessian_bound, double mu, double tolerance);
double square_scale_for(double mu, double tolerance);

}  // namespace parley::privacy
