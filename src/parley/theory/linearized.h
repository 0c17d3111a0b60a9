// How far dp-admm is from the optimum after t rounds. Huang, Hu, Chan-Tin, Gong: DP-ADMM, TIFS 2020, Theorems 3 and 4:
// bounds on
//   E Σ_i ( f_i(w̄_i) − f_i(w*) + β ‖w̄_i − w̄‖ )
// with averages over the rounds, zero start (w̃_i⁰ = w⁰ = γ_i⁰ = 0), ‖w*‖ ≤ D_w.
// Letters: S₁ ≥ ‖ℓ'‖, S₂ ≥ ‖R'‖, S₃ ≥ ‖∇²ℓ‖, S₄ ≥ ‖∇²R‖, G₀ = S₁ + λS₂/N, S = S₃ + λS₄/N,
//   v_i = 8 S₁² ln(1.25/δ)/(m_i ε)²   the variance of one coordinate of (ρ + 1/η)ξ, the same in every round
//   convex (Thm 3)   1/η^{k+1} = G₀√(2(k+1))/D_w               smooth (Thm 4)   1/η_i^{k+1} = S + √(2v_i(k+1))/D_w
// Three versions of each:
//   printed     Thm 3 has no noise at all, Thm 4 takes E‖ξ‖² = σ² instead of dσ².
//   corrected   the noise put right: G₀² → G₀² + d v_i, and d v_i. Like the printed one it sums
//               1/(2η^{k+1})(a_k − a_{k+1}), a_k = ‖w̃_i^k − w*‖², to D_w²/(2η^t), which needs E a_k ≤ D_w² for every k, not only for k = 0: Gaussian noise does not keep
//               iterates in a ball.
//   proved      needs only ‖w*‖ ≤ D_w: E a_k is bounded by a recursion on the Lyapunov function of the same inequality
//               (docs/check/theory-star.md).
// Theorem 3's w̄_i runs over rounds 0 … t−1 in f_i but over 1 … t in the disagreement (the paper's proof swaps them);
// Theorem 4's over 1 … t.
#pragma once
#include <vector>

#include "parley/algorithm/step_size.h"

namespace parley::theory {

struct Star {
  std::vector<double> records;         // m_i
  double penalty = 1;                  // ρ
  double regularization = 0;           // λ
  double dimension = 1;                // d
  double epsilon = 0.1, delta = 1e-3;  // of one iteration
  double solution_bound = 1;           // D_w ≥ ‖w*‖
  double disagreement_weight = 1;      // β
  double gradient_bound = 1;           // S₁
  double curvature_bound = 0.25;       // S₃
  bool l1 = false;                     // R = ‖w‖₁: S₂ = √d, no S₄; otherwise ½‖w‖²: S₂ = D_w at the optimum, S₄ = 1

  double nodes() const { return static_cast<double>(records.size()); }
  double whole_curvature() const;                           // S
  double noise_variance(std::size_t node) const;            // v_i
  algorithm::StepFacts step_facts(std::size_t node) const;  // for G₀ = whole_gradient, η^k = convex_step, smooth_step
};

double noise_scale(const Star& s, std::size_t node, double step_size);  // σ = √v_i / (ρ + 1/η)

struct GapBounds {
  double printed = 0, corrected = 0, proved = 0;
};
GapBounds convex_bounds(const Star& s, long rounds);  // Theorem 3
GapBounds smooth_bounds(const Star& s, long rounds);  // Theorem 4; l1 has no such bound

}  // namespace parley::theory
