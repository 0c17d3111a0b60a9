#include "parley/report/decision/odds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "parley/privacy/gaussian.h"

namespace parley::report {

double best_guess(double epsilon, double delta, TradeOff curve) {
  if (!(epsilon >= 0 && delta >= 0 && delta < 1) || !std::isfinite(epsilon)) return 1;
  if (epsilon == 0 && delta == 0) return 0.5;
  constexpr double up = 1 + 1e-14;  // of a few operations in doubles
  // (e^ε + δ)/(e^ε + 1) = 1 − (1 − δ)/(e^ε + 1), which does not overflow
  const double any = std::min(1.0, (1 - (1 - delta) / (1 + std::exp(epsilon))) * up);
  if (curve != TradeOff::gaussian || delta == 0) return any;
  const double mu = privacy::gdp_mu(epsilon, delta) * up;  // gdp_mu is rounded down
  return std::min(any, (1 + privacy::gdp_delta(mu, 0)) / 2 * up);
}

double best_guess(const std::vector<Claim>& runs) {
  if (runs.size() == 1) return best_guess(runs[0].epsilon, runs[0].delta, runs[0].curve);
  double epsilon = 0, delta = 0, square = 0;
  bool gaussian = true;
  for (const Claim& r : runs) {
    if (!(r.epsilon >= 0 && r.delta >= 0 && r.delta < 1) || !std::isfinite(r.epsilon)) return 1;
    epsilon += r.epsilon;
    delta += r.delta;
    gaussian = gaussian && r.curve == TradeOff::gaussian && r.delta > 0;
    if (!gaussian) continue;
    const double mu = privacy::gdp_mu(r.epsilon, r.delta) * (1 + 1e-14);
    square += mu * mu;
  }
  const double up = 1 + 1e-14 * static_cast<double>(runs.size() + 1);
  const double any = delta < 1 ? best_guess(epsilon * up, delta, TradeOff::any) : 1;
  return gaussian ? std::min(any, (1 + privacy::gdp_delta(std::sqrt(square) * up, 0)) / 2 * up) : any;
}

std::string guess_text(double probability) {
  const double percent = 100 * probability;
  std::string text = fmt::format("{:.1f}", percent);
  if (std::stod(text) < percent) text = fmt::format("{:.1f}", percent + 0.1);  // never below
  return (std::stod(text) > 100 ? "100.0" : text) + " %";
}

}  // namespace parley::report
