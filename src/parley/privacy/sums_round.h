// Sums over the rows of one node with Gaussian noise: what newton and dp-gd release in a round. Adjacency: replace one
// record. Proofs: docs/newton.md, theorem N1. Everything is rounded up.
//   gradients   ‖cut(∇L(f; r)) − cut(∇L(f; r'))‖ ≤ 2G                       μ_g = (2G + 2e)/σ
//   curvature   ‖x xᵀ − z zᵀ‖_F ≤ √2, ‖x∘x − z∘z‖ ≤ √2 for ‖x‖, ‖z‖ ≤ 1     μ_S = (√2 + 2e_S)/s
//   together    μ² = μ_g² + μ_S², the noises being independent
#pragma once

namespace parley::privacy {

struct SumsRound {
  double gradient_bound = 0;       // G
  double gradient_scale = 0;       // σ; 0: there is no gradient, or no noise
  double tolerance = 0;            // e: adding up rounds by at most this
  double curvature_scale = 0;      // s; 0: no curvature in this round
  double curvature_tolerance = 0;  // e_S
};
double sums_mu(const SumsRound& round);

// The least noise whose charge does not exceed mu.
double gradient_scale_for(double gradient_bound, double mu, double tolerance);
double curvature_scale_for(double mu, double tolerance);

}  // namespace parley::privacy
