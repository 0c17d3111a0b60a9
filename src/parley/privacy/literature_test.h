// Bounds of other authors, for golden numbers and comparison in tests. The product has no use for them and claims none.
//
// Redberg, Koskela, Wang 2023 (arXiv 2401.00583): Gaussian noise in the objective of a generalised linear model, as in
// the authors' code (rredberg/better-objpert). Adjacency is ADD/REMOVE one record: their argument moves in one
// direction z, a replaced record in two, so these are no statements about replace-one, which is what parley promises.
// The text of the paper was not at hand, only the code.
#pragma once
#include <algorithm>
#include <cmath>
#include <numbers>

#include "parley/base/error.h"
#include "parley/privacy/gaussian.h"
#include "parley/privacy/pure.h"
#include "parley/privacy/round_up.h"

namespace parley::privacy {

struct RedbergLoss {
  double jacobian, m;  // J, m
};

inline RedbergLoss redberg_loss(const RoundFacts& r, double scale) {
  const double beta = r.gradient_weight * r.curvature_bound;
  expects(scale > 0 && beta < r.strong_convexity, "noise, and C c1/B < kappa");
  return {.jacobian = -std::log1p(-beta / r.strong_convexity), .m = r.gradient_weight * r.gradient_bound / scale};
}

// δ(ε) = 2 δ_m(ε − J)  for ε > J + m²/2,   else 1 − e^h + 2 e^h δ_m(m²/2),  h = ε − J − m²/2
inline double redberg_delta(const RoundFacts& round, double scale, double epsilon) {
  const auto [J, m] = redberg_loss(round, scale);
  const double h = epsilon - J - m * m / 2;
  if (h > 0) return std::min(1.0, 2 * gdp_delta(m, epsilon - J));
  return std::min(1.0, -std::expm1(h) + 2 * std::exp(h) * gdp_delta(m, m * m / 2));
}

// Rényi divergence of order a > 1:  J + m²/2 + ln(2 e^{(a−1)²m²/2} Φ((a−1)m))/(a − 1).
inline double redberg_renyi(const RoundFacts& round, double scale, double order) {
  expects(order > 1, "a Rényi order above 1");
  const auto [J, m] = redberg_loss(round, scale);
  const double t = order - 1;
  const double log_twice_normal = std::log(std::erfc(-t * m / std::numbers::sqrt2));  // ln(2 Φ(tm))
  return J + m * m / 2 + (t * t * m * m / 2 + log_twice_normal) / t;
}

// Balle, Barthe, Gaboardi 2018, Theorem 9: a round that is (ε, δ)-DP under replace-one, run on a fresh, secret, uniform
// sample without replacement of m of the B rows, is (ln(1 + q(e^ε − 1)), qδ)-DP, q = m/B.
struct Approximate {
  double epsilon = 0, delta = 0;
};
inline Approximate subsampled(Approximate round, long sample, long rows) {
  expects(0 < sample && sample <= rows, "0 < m ≤ B");
  expects(round.epsilon >= 0 && round.delta >= 0 && round.delta <= 1, "ε ≥ 0 and 0 ≤ δ ≤ 1");
  const long double q = static_cast<long double>(sample) / static_cast<long double>(rows);
  return {.epsilon = round_up(std::log1p(q * std::expm1(static_cast<long double>(round.epsilon)))),
          .delta = round_up(q * round.delta)};
}

}  // namespace parley::privacy
