#include "parley/privacy/moments.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace parley::privacy {
namespace {

constexpr double outward = 1 + 1e-14;

}  // namespace

double moments_epsilon(double mu, double delta) {
  const double a = mu * mu / 2, log_inverse = std::log(1 / delta);
  const double best =
      std::max(1.0, std::floor(std::sqrt(log_inverse / a)));  // a convex function of τ: its whole neighbours
  double epsilon = std::numeric_limits<double>::infinity();
  for (double tau = std::max(1.0, best - 2); tau <= best + 3; ++tau)
    epsilon = std::min(epsilon, a * (tau + 1) + log_inverse / tau);
  return epsilon * outward;
}

double renyi_epsilon(double mu, double delta) {
  return renyi_epsilon([mu](double a) { return a * mu * mu / 2; }, delta);
}

double renyi_epsilon(const std::function<double(double)>& divergence, double delta) {
  double epsilon = std::numeric_limits<double>::infinity();
  const auto order = [&](double a) {
    epsilon = std::min(epsilon, divergence(a) + std::log1p(-1 / a) - (std::log(delta) + std::log(a)) / (a - 1));
  };
  for (int i = 1; i < 100; ++i) order(1 + 0.01 * i);
  for (int i = 0; i < 1240; ++i) order(2 + 0.05 * i);
  for (int i = 64; i <= 1024; ++i) order(i);
  return std::max(0.0, epsilon) * outward;
}

double zcdp_epsilon(double mu, double delta) {
  const double rho = mu * mu / 2;
  return (rho + 2 * std::sqrt(rho * std::log(1 / delta))) * outward;
}

double dp_admm_mu(double iteration_epsilon, double iteration_delta) {
  return iteration_epsilon / std::sqrt(2 * std::log(1.25 / iteration_delta)) * outward;
}

}  // namespace parley::privacy
