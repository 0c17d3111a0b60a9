// Bounds of other authors, computed for comparison. Nothing here is ever claimed.
//
// Redberg, Koskela, Wang 2023 (arXiv 2401.00583): Gaussian noise in the objective of a generalised linear model, as in
// the authors' code (rredberg/better-objpert). Adjacency is ADD/REMOVE one record: their argument moves in one
// direction z, a replaced record in two, so these are no statements about replace-one, which is what parley promises.
// The text of the paper was not at hand, only the code.
#pragma once

#include "parley/privacy/pure.h"

namespace parley::privacy {

// L = a₀G, β = a₀c₁, λ = κ of the round, m = L/scale, J = −ln(1 − β/λ); needs β < λ.
//   δ(ε) = 2 δ_m(ε − J)  for ε > J + m²/2,   else 1 − e^h + 2 e^h δ_m(m²/2),  h = ε − J − m²/2
double redberg_delta(const RoundFacts& round, double scale, double epsilon);

// Rényi divergence of order a > 1:  J + m²/2 + ln(2 e^{(a−1)²m²/2} Φ((a−1)m))/(a − 1).
double redberg_renyi(const RoundFacts& round, double scale, double order);

}  // namespace parley::privacy
