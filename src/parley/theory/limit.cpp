#include "parley/theory/limit.h"

#include <algorithm>
#include <cmath>

#include "parley/base/error.h"

namespace parley::theory {

std::optional<Vector> limit_weights(const PublicRun& run) {
  const auto weights = [](const Vector& theta) -> Vector { return theta.cwiseInverse() / theta.cwiseInverse().mean(); };
  const Vector first = weights(run.dual_step.front());
  for (const Vector& theta : run.dual_step)
    if ((weights(theta) - first).cwiseAbs().maxCoeff() > 1e-9) return std::nullopt;
  return first;
}

Growth endless_growth(const network::Graph& graph, const PublicRun& run, const Vector& growth,
                      std::optional<double> recycled_damping) {
  Growth result{.factor = growth.minCoeff()};
  expects(result.factor > 1, "penalties that grow at every node");
  const Vector degree = graph.laplacian(1).diagonal();
  const double nodes = static_cast<double>(degree.size());
  std::vector<std::pair<double, double>> steps;  // x_k, y_k
  Vector eta = run.penalty.front();
  for (std::size_t k = 0; k < 100000; ++k) {
    if (k < run.penalty.size()) eta = run.penalty[k];
    const double x = nodes / (2 * eta.dot(degree));
    const double y = recycled_damping ? (2 * eta.cwiseProduct(degree).array() + *recycled_damping).inverse().mean() : 0;
    result.travel += x + y;
    if (k >= run.penalty.size()) result.remaining += x + y;
    steps.emplace_back(x, y);
    if (k >= run.penalty.size() && x < 1e-9 * result.travel) break;
    if (k + 1 >= run.penalty.size()) eta = eta.cwiseProduct(growth);
  }
  const auto kept = [&](double h) {
    double share = 1;
    for (const auto& [x, y] : steps) share *= std::max(0.0, 1 - h * y) / (1 + h * x);
    return share;
  };
  result.kept = kept(run.least_curvature.mean());
  double low = 0, high = 1 / result.travel;
  while (kept(high) > 0.01) high *= 2;
  for (int i = 0; i < 60; ++i) (kept((low + high) / 2) > 0.01 ? low : high) = (low + high) / 2;
  result.stuck = low;
  return result;
}

}  // namespace parley::theory
