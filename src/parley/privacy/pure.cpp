#include "parley/privacy/pure.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/privacy/round_up.h"

namespace parley::privacy {
namespace {

// κ reaches us as a sum of rounded doubles: a hair less is on the safe side wherever it divides.
long double kappa(const RoundFacts& r) {
  return r.strong_convexity * (1 - 0x1p-50L);
}

void check(const RoundFacts& r) {
  expects(r.gradient_weight > 0 && r.strong_convexity > 0, "C/B > 0 and κ > 0");
}

}  // namespace

double objective_epsilon_any_loss(const RoundFacts& r, double rate) {
  check(r);
  const long double a0 = r.gradient_weight;
  return round_up(2 * a0 * r.gradient_bound * rate + std::log1p(r.curvature_bound * a0 / kappa(r)));
}

double objective_epsilon(const RoundFacts& r, double rate) {
  check(r);
  expects(rate > 0, "noise rate > 0");
  if (!r.logistic) return objective_epsilon_any_loss(r, rate);
  const long double a0 = r.gradient_weight, a = a0 * rate, b = a0 / kappa(r);
  if (a >= b) return round_up(2 * a);  // the Jacobian is free: the bracket is largest at s = 1
  // Stationary point of a s + ln(1 + b s(1−s)):  s² − (1 − 2/a) s − (a + b)/(a b) = 0, the root without cancellation.
  const long double p = 1 - 2 / a, q = (a + b) / (a * b), root = std::sqrt(p * p + 4 * q);
  const long double s = std::clamp(p < 0 ? 2 * q / (root - p) : (p + root) / 2, 0.0L, 1.0L);
  return round_up(a + a * s + std::log1p(b * s * (1 - s)));
}

double output_epsilon(const RoundFacts& r, double rate, double tolerance) {
  check(r);
  const long double a0 = r.gradient_weight;
  return round_up(rate * (2 * a0 * r.gradient_bound + 2 * static_cast<long double>(tolerance)) / kappa(r));
}

double inexact_epsilon(double strong_convexity, double tolerance, double rate) {
  return round_up(2 * static_cast<long double>(rate) * tolerance / kappa({.strong_convexity = strong_convexity}));
}

double inexact_rate(double strong_convexity, double tolerance, double epsilon) {
  return epsilon * strong_convexity / (2 * tolerance) * (1 - 1e-14);
}

double zkl20_epsilon(const RoundFacts& r, double rate) {
  check(r);
  return round_up(2 * static_cast<long double>(r.gradient_weight) *
                  (1.4L * r.curvature_bound / r.strong_convexity + rate));
}

double zkl18_epsilon(const RoundFacts& r, double rate, double penalty, int degree) {
  check(r);
  return round_up(r.gradient_weight * (1.4L * r.curvature_bound + rate) / (static_cast<long double>(penalty) * degree));
}

std::optional<std::string> paper_condition_violated(const RoundFacts& r) {
  const double right = r.strong_convexity / r.gradient_weight;
  if (2 * r.curvature_bound < right) return std::nullopt;
  return "the papers ask for 2 c1 < (B/C)(rho/N + 2 eta V), but " + number(2 * r.curvature_bound) +
         " >= " + number(right);
}

void UpwardSum::add(double term) {
  const double next = sum_ + term;
  // TwoSum's error term says whether the sum was rounded down.
  const double back = next - sum_, lost = (sum_ - (next - back)) + (term - back);
  sum_ = lost > 0 ? std::nextafter(next, std::numeric_limits<double>::infinity()) : next;
}

}  // namespace parley::privacy
