#include "parley/privacy/linear_round.h"

#include <algorithm>
#include <cmath>

#include "parley/base/error.h"
#include "parley/privacy/round_up.h"

namespace parley::privacy {
namespace {

using Real = long double;

}  // namespace

double linear_sensitivity(double gradient_weight, double gradient_bound, double rounding, double divisor) {
  expects(gradient_weight > 0 && gradient_bound > 0 && rounding >= 0 && divisor > 0,
          "C/B, G and the divisor above 0, rounding not below");
  // The divisor reaches us as a sum of rounded doubles: a hair less is on the safe side.
  return round_up((2 * static_cast<Real>(gradient_bound) * gradient_weight + 2 * static_cast<Real>(rounding)) /
                  (divisor * (1 - 0x1p-50L)));
}

double dp_admm_scale(double rows, double gradient_bound, double penalty, double step_size, double iteration_epsilon,
                     double iteration_delta) {
  expects(rows > 0 && gradient_bound > 0 && penalty > 0 && step_size > 0, "m, S1, rho and eta above 0");
  expects(iteration_epsilon > 0 && iteration_delta > 0 && iteration_delta < 1, "ε > 0 and 0 < δ < 1");
  const Real divisor = penalty + 1 / static_cast<Real>(step_size);
  return round_up(2 * static_cast<Real>(gradient_bound) * std::sqrt(2 * std::log(1.25L / iteration_delta)) /
                  (static_cast<Real>(rows) * iteration_epsilon * divisor));
}

// Stationarity of the maximum, with x = aR, is R² = x(1 + x + e^x), which has one root x ≥ 0; there
//   Diam(R) = 2/((1 + e^{−x}) √(1 + x/(1 + e^x))),  increasing in x: an x that is a little too large is safe.
double logistic_gradient_diameter(double norm) {
  expects(norm >= 0, "‖w‖ ≥ 0");
  if (norm == 0) return 1;  // exactly
  if (!std::isfinite(norm)) return 2;
  const Real square = static_cast<Real>(norm) * norm * (1 + 0x1p-60L);
  const auto enough = [&](Real x) { return x * (1 + x + std::exp(x)) * (1 - 0x1p-60L) >= square; };
  Real low = 0, high = 1;
  while (!enough(high)) high *= 2;
  while (high - low > 0x1p-62L * high) {
    const Real middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (enough(middle) ? high : low) = middle;
  }
  return std::min(2.0, round_up(2 / ((1 + std::exp(-high)) * std::sqrt(1 + high / (1 + std::exp(high))))));
}

}  // namespace parley::privacy
