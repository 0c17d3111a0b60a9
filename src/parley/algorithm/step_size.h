// The proximal step of a linearised update: Huang, Hu, Chan-Tin, Gong: DP-ADMM, TIFS 2020, Theorems 3 and 4. Public
// numbers only.
//   S₁ ≥ ‖∇ℓ_i‖,  S₃ ≥ ‖∇²ℓ_i‖,  G₀ = S₁ + (λ₂/N) D_w + (λ₁/N) √d
//   v = variance of a coordinate of the gradient's noise
//   convex  1/η^k = G₀ √(2k) / D_w                   Theorem 3: any convex loss and regulariser
//   smooth  1/η^k = S₃ + λ₂/N + √(2 v k) / D_w       Theorem 4: both twice differentiable
// Theorem 4 is printed with 2S₁√(4k ln(1.25/δ))/(m ε D_w): that is √(2vk)/D_w with the v of its noise.
#pragma once

namespace parley::algorithm {

struct StepFacts {
  double gradient_bound = 0;   // S₁ = C_i G
  double curvature_bound = 0;  // S₃ = C_i c₁
  double regularization = 0;   // λ₂/N, on ½‖f‖²
  double l1 = 0;               // λ₁/N, on ‖f‖₁
  double dimension = 0;        // d
  double solution_bound = 0;   // D_w ≥ ‖w*‖
  double gradient_noise = 0;   // √v
};

double whole_gradient(const StepFacts& s);       // G₀
double convex_step(const StepFacts& s, long k);  // η^k, k = 1, 2, …
double smooth_step(const StepFacts& s, long k);

}  // namespace parley::algorithm
