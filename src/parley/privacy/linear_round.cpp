#include "parley/privacy/linear_round.h"

#include <algorithm>
#include <cmath>

#include "parley/base/error.h"
#include "parley/privacy/round_up.h"

namespace parley::privacy {
namespace {

using Real = long double;

}  // namespace

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
