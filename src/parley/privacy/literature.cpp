#include "parley/privacy/literature.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "parley/base/error.h"
#include "parley/privacy/gaussian.h"

namespace parley::privacy {
namespace {

struct Loss {
  double jacobian, m;  // J, m
};

Loss loss(const RoundFacts& r, double scale) {
  const double beta = r.gradient_weight * r.curvature_bound;
  expects(scale > 0 && beta < r.strong_convexity, "noise, and C c1/B < kappa");
  return {.jacobian = -std::log1p(-beta / r.strong_convexity), .m = r.gradient_weight * r.gradient_bound / scale};
}

}  // namespace

double redberg_delta(const RoundFacts& round, double scale, double epsilon) {
  const auto [J, m] = loss(round, scale);
  const double h = epsilon - J - m * m / 2;
  if (h > 0) return std::min(1.0, 2 * gdp_delta(m, epsilon - J));
  return std::min(1.0, -std::expm1(h) + 2 * std::exp(h) * gdp_delta(m, m * m / 2));
}

double redberg_renyi(const RoundFacts& round, double scale, double order) {
  expects(order > 1, "a Rényi order above 1");
  const auto [J, m] = loss(round, scale);
  const double t = order - 1;
  const double log_twice_normal = std::log(std::erfc(-t * m / std::numbers::sqrt2));  // ln(2 Φ(tm))
  return J + m * m / 2 + (t * t * m * m / 2 + log_twice_normal) / t;
}

}  // namespace parley::privacy
