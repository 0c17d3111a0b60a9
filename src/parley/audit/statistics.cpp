#include "parley/audit/statistics.h"

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <limits>

#include "parley/base/error.h"

namespace parley::audit {
namespace {

// ln(lower bound of P_D / upper bound of P_D'), each at alpha/2.
double ratio_bound(std::size_t hits, std::size_t runs, std::size_t other_hits, std::size_t other_runs, double alpha) {
  const double most = binomial_lower(hits, runs, alpha / 2), least = binomial_upper(other_hits, other_runs, alpha / 2);
  return most > 0 ? std::log(most / least) : -std::numeric_limits<double>::infinity();
}

// From the numbers of false alarms and of misses.
double mu_bound(std::size_t alarms, std::size_t other_runs, std::size_t misses, std::size_t runs, double alpha) {
  return normal_quantile(1 - binomial_upper(alarms, other_runs, alpha / 2)) -
         normal_quantile(binomial_upper(misses, runs, alpha / 2));
}

std::size_t hits(double threshold, std::span<const double> sample) {
  return static_cast<std::size_t>(std::ranges::count_if(sample, [=](double x) { return x >= threshold; }));
}

std::size_t at_least(double threshold, const std::vector<double>& descending) {
  return static_cast<std::size_t>(std::ranges::partition_point(descending, [=](double x) { return x >= threshold; }) -
                                  descending.begin());
}

}  // namespace

double ks_distance(std::vector<double> sample, const std::function<double(double)>& cdf) {
  expects(!sample.empty(), "a sample");
  std::ranges::sort(sample);
  const auto n = static_cast<double>(sample.size());
  double distance = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const double p = cdf(sample[i]), before = static_cast<double>(i) / n;
    distance = std::max({distance, p - before, before + 1 / n - p});
  }
  return distance;
}

double ks_p_value(double distance, std::size_t n) {
  const double root = std::sqrt(static_cast<double>(n)), x = (root + 0.12 + 0.11 / root) * distance;
  if (x < 0.2) return 1;  // the series converges slowly there, and P > 1 − 1e-12
  double p = 0;
  for (int k = 1; k <= 100; ++k) p += (k % 2 == 1 ? 2 : -2) * std::exp(-2.0 * k * k * x * x);
  return std::clamp(p, 0.0, 1.0);
}

Moments moments(std::span<const double> sample) {
  const auto n = static_cast<double>(sample.size());
  Moments m;
  for (const double x : sample) m.mean += x / n;
  double fourth = 0;
  for (const double x : sample) {
    const double square = (x - m.mean) * (x - m.mean);
    m.variance += square / n;
    fourth += square * square / n;
  }
  m.kurtosis = fourth / (m.variance * m.variance);
  return m;
}

double two_sided_p(double z) {
  return std::erfc(std::abs(z) / std::sqrt(2.0));
}

double chi_squared_p(double x, double degrees) {
  return boost::math::gamma_q(degrees / 2, x / 2);
}

double gamma_cdf(double x, double shape) {
  return boost::math::gamma_p(shape, x);
}

double normal_cdf(double x) {
  return std::erfc(-x / std::sqrt(2.0)) / 2;
}

double normal_quantile(double p) {
  if (p <= 0) return -std::numeric_limits<double>::infinity();
  if (p >= 1) return std::numeric_limits<double>::infinity();
  return -std::sqrt(2.0) * boost::math::erfc_inv(2 * p);
}

double sphere_coordinate_cdf(double u, double dimension) {
  const double half = boost::math::ibeta(0.5, (dimension - 1) / 2, std::min(1.0, u * u)) / 2;
  return u < 0 ? 0.5 - half : 0.5 + half;
}

double binomial_lower(std::size_t successes, std::size_t trials, double alpha) {
  if (successes == 0) return 0;
  const auto k = static_cast<double>(successes), n = static_cast<double>(trials);
  return boost::math::ibeta_inv(k, n - k + 1, alpha);
}

double binomial_upper(std::size_t successes, std::size_t trials, double alpha) {
  if (successes == trials) return 1;
  const auto k = static_cast<double>(successes), n = static_cast<double>(trials);
  return boost::math::ibetac_inv(k + 1, n - k, alpha);
}

Cut choose_cut(const std::vector<double>& in_d, const std::vector<double>& in_other, double alpha) {
  std::vector<double> d = in_d, other = in_other;
  std::ranges::sort(d, std::greater{});
  std::ranges::sort(other, std::greater{});
  Cut best{.threshold = std::numeric_limits<double>::infinity(), .epsilon = -std::numeric_limits<double>::infinity()};
  const auto consider = [&](const std::vector<double>& from) {
    for (double k = 1; k <= static_cast<double>(from.size()); k = std::max(k + 1, k * 1.1)) {
      const double threshold = from[static_cast<std::size_t>(k) - 1];
      const double epsilon =
          ratio_bound(at_least(threshold, d), d.size(), at_least(threshold, other), other.size(), alpha);
      if (epsilon > best.epsilon) best = {.threshold = threshold, .epsilon = epsilon};
    }
  };
  consider(d);
  consider(other);
  return best;
}

double epsilon_lower_bound(double threshold, std::span<const double> in_d, std::span<const double> in_other,
                           double alpha) {
  return ratio_bound(hits(threshold, in_d), in_d.size(), hits(threshold, in_other), in_other.size(), alpha);
}

MuCut choose_mu_cut(const std::vector<double>& in_d, const std::vector<double>& in_other, double alpha) {
  std::vector<double> d = in_d, other = in_other;
  std::ranges::sort(d, std::greater{});
  std::ranges::sort(other, std::greater{});
  MuCut best{.threshold = std::numeric_limits<double>::infinity(), .mu = -std::numeric_limits<double>::infinity()};
  const auto consider = [&](double threshold) {
    const double mu =
        mu_bound(at_least(threshold, other), other.size(), d.size() - at_least(threshold, d), d.size(), alpha);
    if (mu > best.mu) best = {.threshold = threshold, .mu = mu};
  };
  for (const auto* from : {&d, &other}) {  // 100 cuts across the middle, and the tails ever closer
    for (std::size_t k = 0; k < 100; ++k) consider((*from)[k * from->size() / 100]);
    for (double k = 1; k < static_cast<double>(from->size()) / 100; k *= 2) {
      consider((*from)[static_cast<std::size_t>(k) - 1]);
      consider((*from)[from->size() - static_cast<std::size_t>(k)]);
    }
  }
  return best;
}

double mu_lower_bound(double threshold, std::span<const double> in_d, std::span<const double> in_other, double alpha) {
  return mu_bound(hits(threshold, in_other), in_other.size(), in_d.size() - hits(threshold, in_d), in_d.size(), alpha);
}

double delta_lower_bound(double threshold, double epsilon, std::span<const double> in_d,
                         std::span<const double> in_other, double alpha) {
  return binomial_lower(hits(threshold, in_d), in_d.size(), alpha / 2) -
         std::exp(epsilon) * binomial_upper(hits(threshold, in_other), in_other.size(), alpha / 2);
}

}  // namespace parley::audit
