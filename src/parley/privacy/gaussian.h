// Gaussian differential privacy (Dong, Roth, Su 2022). A mechanism is μ-GDP when telling neighbours apart is never
// easier than telling N(0,1) from N(μ,1). Everything here is rounded to the safe side: δ and ε up, μ down.
//   δ_μ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ)          Balle, Wang 2018, Theorem 8; exact, any real ε
#pragma once
#include <span>
#include <vector>

namespace parley::privacy {

double gdp_delta(double mu, double epsilon);  // never below δ_μ(ε)
double gdp_epsilon(double mu, double delta);  // smallest ε ≥ 0 with δ_μ(ε) ≤ δ, rounded up
double gdp_mu(double epsilon, double delta);  // largest μ with δ_μ(ε) ≤ δ, rounded down
double gdp_compose(
    std::span<const double> mus);    // √Σμ², rounded up; exact for adaptive composition (Dong, Roth, Su Corollary 2)
double gdp_of_pure(double epsilon);  // an ε-DP mechanism is μ-GDP with μ = 2Φ⁻¹(e^ε/(1+e^ε)), rounded up

// (ε, δ) of composing ε_k-DP rounds, each dominated by randomised response (Kairouz, Oh, Viswanath 2015), with GDP
// rounds of total μ. Exact for equal ε_k; otherwise each ε_k is rounded up to a grid. Valid inside one run planned in
// advance only.
double pure_delta(std::span<const double> rounds, double epsilon, double mu = 0);
double pure_epsilon(std::span<const double> rounds, double delta, double mu = 0);

}  // namespace parley::privacy
