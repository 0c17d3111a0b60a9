#include "parley/privacy/gaussian_round.h"

#include <algorithm>
#include <cmath>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/privacy/round_up.h"

namespace parley::privacy {
namespace {

constexpr double proved_ratio = 1.75, proved_k = 2;

// κ reaches us as a sum of rounded doubles: a hair less is on the safe side wherever it divides.
long double kappa(double strong_convexity) {
  return strong_convexity * (1 - 0x1p-50L);
}

Mu refused(const std::string& why, bool output_would_do) {
  return {.value = std::nullopt, .why_not = why, .output_would_do = output_would_do};
}

}  // namespace

Mu objective_mu(const RoundFacts& f, double scale, Bound bound) {
  expects(f.gradient_weight > 0 && f.strong_convexity > 0 && scale > 0, "C/B, κ and the noise scale above 0");
  if (!f.logistic)
    return refused(
        "Gaussian noise in the objective is proved for the logistic loss only; use --noise-on output or --noise gamma",
        true);
  const long double a0 = f.gradient_weight, r = scale / kappa(f.strong_convexity), k = a0 / scale;
  if (k > proved_k)
    return refused("the noise is too small for the theorem: C/(B sigma) = " + number(static_cast<double>(k)) +
                       " > 2; use --noise-on output",
                   true);
  if (r <= proved_ratio) return {.value = round_up(2 * k), .why_not = ""};
  const bool split = a0 / kappa(f.strong_convexity) <= proved_k * proved_ratio;  // σ may be replaced by 1.75κ
  if (bound == Bound::verified) {
    const long double hull = 0.89L + 0.117L * r, c = split ? std::min(r / proved_ratio, hull) : hull;
    return {.value = round_up(2 * k * std::max(1.0L, c)), .why_not = "", .proved = split && r / proved_ratio <= hull};
  }
  if (!split)
    return refused("sigma/kappa = " + number(static_cast<double>(r)) +
                       " > 1.75 with C/(B kappa) > 3.5: outside the theorem; raise --penalty",
                   false);
  return {.value = round_up(2 * k * r / proved_ratio), .why_not = ""};
}

double output_mu(const RoundFacts& f, double scale, double tolerance) {
  expects(f.strong_convexity > 0 && scale > 0, "κ and the noise scale above 0");
  return round_up(
      (2 * static_cast<long double>(f.gradient_weight) * f.gradient_bound + 2 * static_cast<long double>(tolerance)) /
      (kappa(f.strong_convexity) * scale));
}

double inexact_mu(double strong_convexity, double tolerance, double scale) {
  return round_up(2 * static_cast<long double>(tolerance) / (kappa(strong_convexity) * scale));
}

double compose_mu(double a, double b) {
  return round_up(std::sqrt(static_cast<long double>(a) * a + static_cast<long double>(b) * b));
}

Level objective_scale_for(const RoundFacts& f, double mu, Bound bound) {
  const double a0 = f.gradient_weight, kappa_ = f.strong_convexity;
  const double plain =
      2 * a0 / std::min(mu, 2 * proved_k) * (1 + 1e-14);  // more is never claimed than the theorem has: k ≤ 2
  double scale = plain;
  if (plain > proved_ratio * kappa_ * (1 - 1e-14)) {
    // Beyond 1.75κ the proved μ stays at 2a₀/(1.75κ) however large the noise; the verified one falls to 0.234 a₀/κ.
    const double floor = bound == Bound::verified ? 0.234 * a0 / kappa_ : 2 * a0 / (proved_ratio * kappa_);
    if (mu <= floor * (1 + 1e-12))
      return {.value = std::nullopt,
              .why_not = "no noise in the objective brings a round below mu = " + number(floor) +
                         " at kappa = " + number(kappa_) +
                         "; raise the penalty until kappa >= " + number(kappa_ * floor / mu * (1 + 1e-6))};
    scale = 1.78 * a0 / (mu - 0.234 * a0 / kappa_) * (1 + 1e-13);
  }
  const Mu check = objective_mu(f, scale, bound);
  if (!check.value) return {.value = std::nullopt, .why_not = check.why_not, .output_would_do = check.output_would_do};
  expects(*check.value <= mu, "calibrated noise keeps its target");
  return {.value = scale, .why_not = ""};
}

double output_scale_for(const RoundFacts& f, double mu, double tolerance) {
  return (2 * f.gradient_weight * f.gradient_bound + 2 * tolerance) / (f.strong_convexity * mu) * (1 + 1e-14);
}

Level objective_rate_for(const RoundFacts& f, double epsilon) {
  const double least = std::log1p(f.curvature_bound * f.jacobian());
  if (epsilon <= least * (1 + 1e-12))
    return {.value = std::nullopt,
            .why_not = "the Jacobian alone costs up to " + number(least) +
                       " a round; raise the penalty until kappa >= " +
                       number(f.curvature_bound * f.gradient_weight / std::expm1(epsilon))};
  double low = 0, high = epsilon / (2 * f.gradient_weight * f.gradient_bound);  // the loss is at least 2 a₀ G rate
  if (objective_epsilon(f, high) <= epsilon) return {.value = high, .why_not = ""};
  while (true) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high || high - low < 1e-15 * high) break;
    (objective_epsilon(f, middle) <= epsilon ? low : high) = middle;
  }
  return {.value = low, .why_not = ""};
}

double output_rate_for(const RoundFacts& f, double epsilon, double tolerance) {
  return epsilon * f.strong_convexity / (2 * f.gradient_weight * f.gradient_bound + 2 * tolerance) * (1 - 1e-14);
}

}  // namespace parley::privacy
