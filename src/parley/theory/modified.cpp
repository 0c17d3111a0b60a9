#include "parley/theory/modified.h"

#include <algorithm>
#include <cmath>

#include "parley/base/error.h"
#include "parley/base/text.h"

namespace parley::theory {

bool equal_entries(const Vector& v) {
  return v.maxCoeff() - v.minCoeff() <= 1e-12 * v.cwiseAbs().maxCoeff();
}

std::optional<Violation> order_violated(const PublicRun& run) {
  for (std::size_t k = 0; k < run.penalty.size(); ++k)
    for (Index i = 0; i < run.penalty[k].size(); ++i) {
      const double eta = run.penalty[k][i], theta = run.dual_step[k][i], before = k == 0 ? eta : run.penalty[k - 1][i];
      const auto violation = [&](const std::string& what) {
        return Violation{static_cast<int>(i), static_cast<long>(k + 1), what};
      };
      if (!(theta > 0)) return violation("dual step " + number(theta) + " is not > 0");
      if (eta < theta * (1 - 1e-12)) return violation("penalty " + number(eta) + " < dual step " + number(theta));
      if (eta < before * (1 - 1e-12)) return violation("penalty falls from " + number(before) + " to " + number(eta));
    }
  return std::nullopt;
}

// Both terms of the minimum as functions of μ: the first falls; the second rises up to μ̂ = 1 + √(1 + σ̄²/M²), the
// minimum of (μ²M² + μσ̄²)/(μ−1), and falls after it. So the best μ is μ̂ or where the two cross before it.
Rate best_rate(double theta_sigma, double signless_most, double excess_most, double numerator, double most_curvature) {
  const double m2 = most_curvature * most_curvature, s2 = excess_most * excess_most;
  const auto first = [&](double mu) { return theta_sigma / (mu * mu * signless_most); };
  const auto second = [&](double mu) {
    return numerator / ((mu * mu * m2 + mu * s2) / (theta_sigma * (mu - 1)) + signless_most);
  };
  double high = 1 + std::sqrt(1 + s2 / m2);
  if (first(high) < second(high)) {
    double low = 1;
    for (int step = 0; step < 200; ++step) {
      const double middle = (low + high) / 2;
      (first(middle) >= second(middle) ? low : high) = middle;
    }
  }
  return {.delta = std::min(first(high), second(high)), .mu = high};
}

RoundRate rate(const network::Graph& graph, const PublicRun& run, long round) {
  const Vector& eta = run.penalty.at(static_cast<std::size_t>(round - 1));
  const Vector& theta = run.dual_step.at(static_cast<std::size_t>(round - 1));
  const Matrix minus = graph.laplacian(-1), plus = graph.laplacian(1);
  const Matrix excess = (eta - theta).asDiagonal() * minus;
  RoundRate r{.signless = singular_values(eta.asDiagonal() * plus), .excess = singular_values(excess)};
  const double m = run.least_curvature.minCoeff(), big = run.most_curvature.maxCoeff();
  const double theta_sigma = theta.minCoeff() * singular_values(minus).least;
  r.printed = best_rate(theta_sigma, r.signless.most, r.excess.most, 2 * m + 2 * r.excess.least, big);
  if (equal_entries(eta) && equal_entries(theta) && eta[0] >= theta[0] * (1 - 1e-12))
    r.corrected = best_rate(theta_sigma, r.signless.most, r.excess.most, 2 * m, big);
  const Matrix bounded = symmetric_part(excess) + Matrix(run.least_curvature.asDiagonal());
  r.monotone_margin = least_eigenvalue(bounded);
  return r;
}

}  // namespace parley::theory
