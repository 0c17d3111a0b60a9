#include "parley/report/decision/odds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "parley/privacy/gaussian.h"

namespace parley::report {

double best_guess(double epsilon, double delta, TradeOff curve) {
  if (!(epsilon >= 0 && delta >= 0 && delta < 1) || !std::isfinite(epsilon)) return 1;
  constexpr double up = 1 + 1e-14;  // of a few operations in doubles
  // (e^ε + δ)/(e^ε + 1) = 1 − (1 − δ)/(e^ε + 1), which does not overflow
  const double any = std::min(1.0, (1 - (1 - delta) / (1 + std::exp(epsilon))) * up);
  if (curve != TradeOff::gaussian || delta == 0) return any;
  const double mu = privacy::gdp_mu(epsilon, delta) * up;  // gdp_mu is rounded down
  return std::min(any, (1 + privacy::gdp_delta(mu, 0)) / 2 * up);
}

std::string guess_text(double probability) {
  return fmt::format("{:.1f} %", std::min(100.0, std::ceil(1000 * probability * (1 - 1e-12)) / 10));
}

}  // namespace parley::report
