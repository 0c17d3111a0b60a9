#include "parley/privacy/gaussian.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "parley/base/error.h"

namespace parley::privacy {
namespace {

using Real = long double;
constexpr Real half_root_pi = 0.886226925452758013649083741670572591L;  // √π/2

// e^{x²} erfc(x), relative error below 1e-16. Small and negative x by definition, large x by the continued fraction
//   erfcx(x) = (1/√π) · 1/(x + (1/2)/(x + 1/(x + (3/2)/(x + …)))).
Real scaled_erfc(Real x) {
  if (x < 4) return std::exp(x * x) * std::erfc(x);
  Real tail = x;
  for (int k = 120; k >= 1; --k) tail = x + (static_cast<Real>(k) / 2) / tail;
  return 1 / (2 * half_root_pi * tail);
}

// δ with x = (ε/μ − μ/2)/√2, y = (ε/μ + μ/2)/√2: e^ε e^{−y²} = e^{−x²}, so δ = e^{−x²}(erfcx(x) − erfcx(y))/2 without
// overflow. Second: a bound on the rounding error of the first.
std::pair<Real, Real> delta_and_error(Real mu, Real epsilon) {
  const Real x = (epsilon / mu - mu / 2) / std::numbers::sqrt2_v<Real>,
             y = (epsilon / mu + mu / 2) / std::numbers::sqrt2_v<Real>;
  if (x > -4) {
    const Real factor = std::exp(-x * x) / 2, a = scaled_erfc(x), b = scaled_erfc(y);
    return {factor * (a - b), factor * (a + b) * 1e-16L};
  }
  // e^ε alone may overflow; e^ε erfc(y) = e^{−x²} erfcx(y) does not.
  const Real a = std::erfc(x) / 2,
             b = (y > 0 ? std::exp(-x * x) * scaled_erfc(y) : std::exp(epsilon) * std::erfc(y)) / 2;
  return {a - b, (a + b) * 1e-16L};
}

double up(Real x) {
  double d = static_cast<double>(x);
  while (static_cast<Real>(d) < x) d = std::nextafter(d, std::numeric_limits<double>::infinity());
  return d;
}

Real delta_up(Real mu, Real epsilon) {
  if (mu == 0) return std::max<Real>(0, -std::expm1(epsilon));
  const auto [delta, error] = delta_and_error(mu, epsilon);
  return std::clamp<Real>(delta + error, 0, 1);
}

// The smallest double x in [low, high] with holds(x), for holds false … false true … true; high must hold.
template <class Predicate>
double first_true(double low, double high, const Predicate& holds) {
  if (holds(low)) return low;
  while (true) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return high;
    (holds(middle) ? high : low) = middle;
  }
}

void check_delta(double delta) {
  expects(delta > 0 && delta < 1, "0 < δ < 1");
}

// The distribution of the total privacy loss of randomised responses: loss values and their probabilities.
struct LossPoint {
  Real loss, probability;
};
std::vector<LossPoint> loss_distribution(std::span<const double> rounds) {
  const auto [low, high] = std::ranges::minmax(rounds);
  const auto count = static_cast<int>(rounds.size());
  std::vector<LossPoint> points;
  if (high - low <= 1e-9 * high) {  // equal but for rounding, all taken as the largest: binomial
    const Real e = high, right = 1 / (1 + std::exp(-e));
    for (int j = 0; j <= count; ++j) {
      const Real log_weight = std::lgamma(static_cast<Real>(count + 1)) - std::lgamma(static_cast<Real>(j + 1)) -
                              std::lgamma(static_cast<Real>(count - j + 1)) + j * std::log(right) +
                              (count - j) * (-e + std::log(right));
      points.push_back({(2 * j - count) * e, std::exp(log_weight)});
    }
    return points;
  }
  Real total = 0;
  for (const double e : rounds) total += e;
  const Real grid = total / 20000;
  std::vector<Real> mass{1};
  long steps = 0;
  for (const double e : rounds) {
    const auto n = static_cast<std::size_t>(std::ceil(e / grid));  // up: a larger ε_k dominates
    const Real right = 1 / (1 + std::exp(-static_cast<Real>(n) * grid));
    std::vector<Real> next(mass.size() + 2 * n, 0);
    for (std::size_t i = 0; i < mass.size(); ++i) {
      next[i + 2 * n] += right * mass[i];
      next[i] += (1 - right) * mass[i];
    }
    mass = std::move(next);
    steps += static_cast<long>(n);
  }
  for (std::size_t i = 0; i < mass.size(); ++i)
    if (mass[i] > 0) points.push_back({(static_cast<Real>(i) - static_cast<Real>(steps)) * grid, mass[i]});
  return points;
}

Real pure_delta_up(const std::vector<LossPoint>& points, Real epsilon, Real mu) {
  Real sum = 0;
  for (const auto& p : points) sum += p.probability * delta_up(mu, epsilon - p.loss);
  return std::min<Real>(1, sum * (1 + 1e-14L));
}

}  // namespace

double gdp_delta(double mu, double epsilon) {
  expects(mu >= 0, "μ ≥ 0");
  return std::min(1.0, up(delta_up(mu, epsilon)));
}

double gdp_epsilon(double mu, double delta) {
  check_delta(delta);
  expects(mu >= 0 && std::isfinite(mu), "a finite μ ≥ 0");
  if (mu == 0) return 0;
  double high = 1;
  while (delta_up(mu, high) > delta) high *= 2;
  return first_true(0, high, [&](double e) { return delta_up(mu, e) <= delta; });
}

double gdp_mu(double epsilon, double delta) {
  check_delta(delta);
  expects(epsilon >= 0 && std::isfinite(epsilon), "a finite ε ≥ 0");
  double high = 1;
  while (delta_up(high, epsilon) <= delta) high *= 2;
  const double first_bad = first_true(0, high, [&](double m) { return delta_up(m, epsilon) > delta; });
  return std::nextafter(first_bad, 0.0);
}

double gdp_compose(std::span<const double> mus) {
  Real sum = 0;
  for (const double m : mus) sum += static_cast<Real>(m) * m;
  return up(std::sqrt(sum) * (1 + static_cast<Real>(mus.size() + 2) * 0x1p-63L));
}

// The trade-off curve of ε-DP is two chords that meet at α = β = 1/(1 + e^ε). With Φ(−μ/2) = 1/(1 + e^ε) the convex
// curve G_μ passes through (0, 1), that corner and (1, 0), so it lies below the chords.
double gdp_of_pure(double epsilon) {
  expects(epsilon >= 0, "ε ≥ 0");
  if (epsilon > 5000) return std::numeric_limits<double>::infinity();  // the tail would underflow
  const Real tail = 1 / (1 + std::exp(static_cast<Real>(epsilon)));
  double high = 1;
  const auto enough = [&](double mu) {
    return std::erfc(static_cast<Real>(mu) / 2 / std::numbers::sqrt2_v<Real>) / 2 <= tail * (1 - 1e-16L);
  };
  while (!enough(high)) high *= 2;
  return epsilon == 0 ? 0 : first_true(0, high, enough);
}

double pure_delta(std::span<const double> rounds, double epsilon, double mu) {
  if (rounds.empty()) return gdp_delta(mu, epsilon);
  return std::min(1.0, up(pure_delta_up(loss_distribution(rounds), epsilon, mu)));
}

double pure_epsilon(std::span<const double> rounds, double delta, double mu) {
  Real total = 0;
  for (const double e : rounds) total += e;
  if (delta == 0) {
    expects(mu == 0, "Gaussian rounds need δ > 0");
    return up(total * (1 + 1e-16L));
  }
  check_delta(delta);
  if (rounds.empty()) return gdp_epsilon(mu, delta);
  const auto points = loss_distribution(rounds);
  double high = up(total) + (mu > 0 ? gdp_epsilon(mu, delta) : 0) + 1e-9;
  while (pure_delta_up(points, high, mu) > delta) high *= 1.1;
  return first_true(0, high, [&](double e) { return pure_delta_up(points, e, mu) <= delta; });
}

}  // namespace parley::privacy
