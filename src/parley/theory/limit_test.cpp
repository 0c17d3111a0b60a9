#include "parley/theory/limit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "parley/theory/modified.h"

namespace parley::theory {
namespace {

using network::Graph;

Graph graph_of(const std::string& shape, int nodes) {
  return network::make_graph({.graph = shape}, nodes);
}

// (P), (D) on ½ h_i (f − x_i)² in one dimension; penalty and dual step per node, the penalty times growth each round.
Vector end(const Graph& g, const Vector& h, const Vector& x, Vector eta, const Vector& theta, double growth,
           int rounds) {
  const Matrix minus = g.laplacian(-1), plus = g.laplacian(1);
  Vector f = Vector::Zero(h.size()), twice_dual = f;
  for (int t = 0; t < rounds; ++t, eta *= growth) {
    f = (h.cwiseProduct(x) - twice_dual + eta.cwiseProduct(plus * f))
            .cwiseQuotient(h + 2 * eta.cwiseProduct(plus.diagonal()));
    twice_dual += theta.cwiseProduct(minus * f);
  }
  return f;
}

TEST(Limit, DualStepsPerNodeSolveTheReweightedProblem) {
  const Graph g = graph_of("ring", 5);
  Vector h(5), x(5), theta(5);
  h << 1, 2, 0.5, 1, 3;
  x << 1, -1, 2, 4, 0.5;
  theta << 1, 1.03, 1.02, 0.5, 1.01;
  const PublicRun r{.penalty = {theta}, .dual_step = {theta, 2 * theta}};
  const Vector w = *limit_weights(r);
  EXPECT_NEAR(w.mean(), 1, 1e-15);
  EXPECT_NEAR(w[3] / w[0], 2, 1e-14);
  const Vector f = end(g, h, x, theta, theta, 1, 4000);
  EXPECT_NEAR(f[0], w.cwiseProduct(h).dot(x) / w.dot(h), 1e-9);
  EXPECT_GT(std::abs(f[0] - h.dot(x) / h.sum()), 1e-3);
}

TEST(Limit, ThereAreNoWeightsWhenTheRatiosChange) {
  PublicRun r{.dual_step = {Vector::Constant(2, 1), Vector::Constant(2, 3)}};
  EXPECT_TRUE(equal_entries(*limit_weights(r)));
  r.dual_step[1][0] = 2;
  EXPECT_FALSE(limit_weights(r).has_value());
}

TEST(Growth, TheWeakestDirectionKeepsWhatIsPredicted) {
  const int n = 5, rounds = 400;
  const Graph g = graph_of("ring", n);
  for (const double q : {1.05, 1.2}) {
    const PublicRun r{.penalty = {Vector::Constant(n, 1)},
                      .dual_step = {Vector::Constant(n, 1)},
                      .least_curvature = Vector::Constant(n, 0.3),
                      .most_curvature = Vector::Constant(n, 1)};
    const Growth growth = endless_growth(g, r, Vector::Constant(n, q), std::nullopt);
    const Vector f = end(g, Vector::Constant(n, 0.3), Vector::Constant(n, 1), Vector::Constant(n, 1),
                         Vector::Constant(n, 1), q, rounds);
    EXPECT_NEAR(1 - f[0], growth.kept, 1e-6 + 1e-4 * growth.kept);
    EXPECT_NEAR(growth.travel, 0.25 * q / (q - 1), 1e-6);  // x_1 = 1/(2V) and the geometric sum
    const Vector g2 = end(g, Vector::Constant(n, growth.stuck), Vector::Constant(n, 1), Vector::Constant(n, 1),
                          Vector::Constant(n, 1), q, rounds);
    EXPECT_NEAR(1 - g2[0], 0.01, 1e-4);
  }
}

TEST(Growth, RecycledRoundsTravelTooAndFasterGrowthLessFar) {
  const Graph g = graph_of("ring", 5);
  const PublicRun r{.penalty = {Vector::Constant(5, 1)},
                    .dual_step = {Vector::Constant(5, 1)},
                    .least_curvature = Vector::Constant(5, 0.1),
                    .most_curvature = Vector::Constant(5, 1)};
  const Growth slow = endless_growth(g, r, Vector::Constant(5, 1.02), std::nullopt),
               fast = endless_growth(g, r, Vector::Constant(5, 1.2), std::nullopt);
  const Growth recycled = endless_growth(g, r, Vector::Constant(5, 1.02), 0.5);
  EXPECT_GT(slow.travel, fast.travel);
  EXPECT_LT(slow.kept, fast.kept);
  EXPECT_LT(slow.stuck, fast.stuck);
  EXPECT_GT(recycled.travel, 1.8 * slow.travel);
}

}  // namespace
}  // namespace parley::theory
