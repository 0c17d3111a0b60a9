// Older accountants of Gaussian rounds with total GDP parameter μ, for comparison with the exact gdp_epsilon. All are
// valid, and larger.
#pragma once
#include <functional>

namespace parley::privacy {

// HHCG20 Appendix A: min over whole τ ≥ 1 of A(τ+1) + ln(1/δ)/τ, A = μ²/2.
double moments_epsilon(double mu, double delta);

// Rényi DP, order a costs aμ²/2, converted by Canonne, Kamath, Steinke 2020 over the usual list of orders.
double renyi_epsilon(double mu, double delta);
// The same for any curve order ↦ Rényi divergence.
double renyi_epsilon(const std::function<double(double)>& divergence, double delta);

// zCDP, ρ = μ²/2: ε = ρ + 2√(ρ ln(1/δ)) (Bun, Steinke 2016).
double zcdp_epsilon(double mu, double delta);

// One DP-ADMM iteration calibrated to (ε, δ) by HHCG20 Theorem 1, σ = Δ√(2 ln(1.25/δ))/ε, is μ-GDP with μ = ε/√(2
// ln(1.25/δ)).
double dp_admm_mu(double iteration_epsilon, double iteration_delta);

}  // namespace parley::privacy
