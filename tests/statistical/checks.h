// The checks of the sampler tests: a right sampler is accepted, a slightly wrong one is rejected. Streams are seeded,
// so a verdict is a constant; n = 10^6 where nothing else is said.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "length.h"
#include "parley/audit/statistics.h"
#include "parley/privacy/random.h"

namespace parley::audit {

using privacy::Random;

constexpr double accepted = 1e-4;  // of every p-value of a right sampler
constexpr double rejected = 1e-9;  // of the smallest p-value of a wrong one

struct Check {
  std::string name;
  double p = 1;
};
using Checks = std::vector<Check>;

inline const Check& worst(const Checks& checks) {
  return *std::ranges::min_element(checks, {}, &Check::p);
}

inline ::testing::AssertionResult all_accepted(const Checks& checks, double level = accepted) {
  for (const Check& c : checks)
    if (!(c.p >= level)) return ::testing::AssertionFailure() << c.name << " has p = " << c.p;
  return ::testing::AssertionSuccess();
}

inline ::testing::AssertionResult is_rejected(const Checks& checks) {
  const Check& c = worst(checks);
  if (c.p < rejected) return ::testing::AssertionSuccess() << c.name << " has p = " << c.p;
  return ::testing::AssertionFailure() << "not rejected; the smallest p-value is " << c.p << " of " << c.name;
}

// rate·‖b‖ ~ Gamma(d, 1): its whole law, its mean d and its variance d (whose estimate has variance (2d² + 6d)/n).
inline Checks check_norms(const std::vector<double>& norms, double d) {
  const auto n = static_cast<double>(norms.size());
  const Moments m = moments(norms);
  return {{"norm: Kolmogorov-Smirnov",
           ks_p_value(ks_distance(norms, [d](double x) { return gamma_cdf(x, d); }), norms.size())},
          {"norm: mean", two_sided_p((m.mean - d) / std::sqrt(d / n))},
          {"norm: variance", two_sided_p((m.variance - d) / std::sqrt((2 * d * d + 6 * d) / n))}};
}

using Sampler = std::function<Vector(Random& random)>;

// b with density ∝ exp(−rate‖b‖) in d dimensions: the norm as above, the direction uniform and independent of it.
inline Checks check_vectors(const Sampler& sampler, Index dimension, double rate, std::size_t n, Random& random,
                            std::vector<double>* norms_out = nullptr) {
  const auto d = static_cast<double>(dimension), count = static_cast<double>(n);
  std::vector<double> norms, first, angle, fourth;
  Vector mean = Vector::Zero(dimension), square = Vector::Zero(dimension);
  double product = 0;
  for (std::size_t i = 0; i < n; ++i) {
    Vector u = sampler(random);
    const double norm = u.norm();
    u /= norm;
    norms.push_back(rate * norm);
    first.push_back(u[0]);
    mean += u / count;
    square += u.cwiseAbs2() / count;
    fourth.push_back(u.array().square().square().sum());
    if (dimension > 1) product += u[0] * u[1] / count;
    if (dimension == 2) angle.push_back(std::atan2(u[1], u[0]));
  }
  if (norms_out != nullptr) *norms_out = norms;
  Checks checks = check_norms(norms, d);
  checks.push_back({"direction: length of the mean", chi_squared_p(count * d * mean.squaredNorm(), d)});
  if (dimension == 1) return checks;
  const double spread = std::sqrt((3 / (d * (d + 2)) - 1 / (d * d)) / count);  // of a mean of u_k²
  const double largest = (square.array() - 1 / d).abs().maxCoeff();
  checks.push_back({"direction: second moments", std::min(1.0, d * two_sided_p(largest / spread))});
  checks.push_back({"direction: coordinates uncorrelated", two_sided_p(product * std::sqrt(count * d * (d + 2)))});
  const Moments m = moments(fourth);
  checks.push_back({"direction: fourth moments", two_sided_p((m.mean - 3 / (d + 2)) / std::sqrt(m.variance / count))});
  checks.push_back({"direction: law of a coordinate",
                    ks_p_value(ks_distance(first, [d](double u) { return sphere_coordinate_cdf(u, d); }), n)});
  if (dimension == 2)
    checks.push_back({"direction: angle",
                      ks_p_value(ks_distance(angle, [](double a) { return a / (2 * std::numbers::pi) + 0.5; }), n)});
  double correlation = 0;
  for (std::size_t i = 0; i < n; ++i) correlation += (norms[i] - d) * (first[i] * first[i] - 1 / d) / count;
  checks.push_back({"norm and direction independent", two_sided_p(correlation / (std::sqrt(d) * spread))});
  return checks;
}

inline std::vector<double> draws(std::size_t n, const std::function<double()>& draw) {
  std::vector<double> sample;
  for (std::size_t i = 0; i < n; ++i) sample.push_back(draw());
  return sample;
}

inline Checks check_normal(const std::vector<double>& sample) {
  const auto n = static_cast<double>(sample.size());
  const Moments m = moments(sample);
  return {{"normal: Kolmogorov-Smirnov", ks_p_value(ks_distance(sample, normal_cdf), sample.size())},
          {"normal: mean", two_sided_p(m.mean * std::sqrt(n))},
          {"normal: variance", two_sided_p((m.variance - 1) * std::sqrt(n / 2))},
          {"normal: kurtosis", two_sided_p((m.kurtosis - 3) * std::sqrt(n / 24))}};
}

// Coordinates of one vector: products of neighbours and of their squares average 0 and 1; squared norms are χ².
inline Checks check_independent(const std::vector<double>& sample, Index d) {
  const auto width = static_cast<std::size_t>(d), vectors = sample.size() / width;
  double product = 0, squares = 0;
  std::vector<double> norms;
  for (std::size_t v = 0; v < vectors; ++v) {
    double norm = 0;
    for (std::size_t k = 0; k < width; ++k) {
      const double x = sample[v * width + k], next = sample[v * width + (k + 1) % width];
      norm += x * x;
      product += x * next;
      squares += (x * x - 1) * (next * next - 1);
    }
    norms.push_back(norm / 2);
  }
  const auto pairs = static_cast<double>(vectors * width) * (width == 2 ? 2 : 1);  // two coordinates: each pair twice
  return {
      {"coordinates: products of neighbours", two_sided_p(product / std::sqrt(pairs))},
      {"coordinates: products of their squares", two_sided_p(squares / std::sqrt(4 * pairs))},
      {"vectors: squared norms",
       ks_p_value(ks_distance(norms, [d](double x) { return gamma_cdf(x, static_cast<double>(d) / 2); }), vectors)}};
}

inline std::size_t size_for(Index dimension) {
  if (is_short()) return dimension > 10 ? 5000 : 20000;
  return dimension > 10 && !is_full() ? 200000 : 1000000;
}
inline double small_error() {
  return is_short() ? 0.1 : 0.01;
}  // the scale error that must be seen at that size

}  // namespace parley::audit
