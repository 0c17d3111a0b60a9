#include "parley/theory/modified.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <random>

namespace parley::theory {
namespace {

using network::Graph;
using ::testing::HasSubstr;

Graph graph(const std::string& shape, int nodes) {
  return network::make_graph({.graph = shape, .edge_probability = 0.6}, nodes);
}

PublicRun run(int nodes, double penalty, double dual_step, double least, double most) {
  return {.penalty = {Vector::Constant(nodes, penalty)},
          .dual_step = {Vector::Constant(nodes, dual_step)},
          .least_curvature = Vector::Constant(nodes, least),
          .most_curvature = Vector::Constant(nodes, most)};
}

TEST(Spectrum, OfCompleteGraphsAndRings) {
  const auto check = [](const Matrix& m, double least, double most) {
    const SingularValues s = singular_values(m);
    EXPECT_NEAR(s.least, least, 1e-12);
    EXPECT_NEAR(s.most, most, 1e-12);
  };
  check(graph("complete", 3).laplacian(-1), 3, 3);
  check(graph("complete", 3).laplacian(1), 1, 4);
  check(graph("complete", 4).laplacian(-1), 4, 4);
  check(graph("complete", 4).laplacian(1), 2, 6);
  check(graph("ring", 4).laplacian(1), 2, 4);  // bipartite: 0 is left out
  check(Matrix::Zero(3, 3), 0, 0);
  const Matrix l = graph("random", 9).laplacian(-1), p = pseudo_inverse(l);
  EXPECT_LT((l * p * l - l).norm(), 1e-12);
  EXPECT_LT((p * l * p - p).norm(), 1e-12);
}

TEST(ModifiedConvergence, TheOrderOfPenaltiesIsCheckedForEveryNodeAndRound) {
  PublicRun r = run(3, 1, 1, 0.1, 1);
  r.penalty.push_back(Vector::Constant(3, 2));
  r.dual_step.push_back(r.dual_step[0]);
  EXPECT_FALSE(order_violated(r).has_value());
  r.penalty[1][2] = 0.9;
  ASSERT_TRUE(order_violated(r).has_value());
  EXPECT_EQ(order_violated(r)->node, 2);
  EXPECT_EQ(order_violated(r)->round, 2);
  EXPECT_THAT(order_violated(r)->what, HasSubstr("penalty 0.9 < dual step 1"));
  r.dual_step[1][2] = 0.5;
  EXPECT_THAT(order_violated(r)->what, HasSubstr("falls from 1 to 0.9"));
}

// K_4, η = θ: σ_min(D−A) = 4, σ_max(D+A) = 6, and σ̄ = 0, so (23) = min { 4/(6μ²), 2m / (μ²M²/(4η(μ−1)) + 6η) }.
TEST(ModifiedConvergence, RateOnTheCompleteGraphByHand) {
  const double eta = 0.5, m = 0.1, big = 3;
  const RoundRate r = rate(graph("complete", 4), run(4, eta, eta, m, big), 1);
  EXPECT_NEAR(r.printed.mu, 2, 1e-12);
  EXPECT_NEAR(r.printed.delta, 2 * m / (4 * big * big / (4 * eta) + 6 * eta), 1e-14);
  EXPECT_EQ(r.printed.delta, r.corrected->delta);
  EXPECT_GE(r.monotone_margin, 0);
}

TEST(ModifiedConvergence, TheBestMuIsFound) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> log_of(-4, 4);
  for (int trial = 0; trial < 200; ++trial) {
    const double ts = std::exp(log_of(random)), st = std::exp(log_of(random)), ex = std::exp(log_of(random)),
                 num = std::exp(log_of(random)), big = std::exp(log_of(random));
    const Rate best = best_rate(ts, st, ex, num, big);
    EXPECT_GT(best.mu, 1);
    for (double mu = 1.0001; mu < 1e4; mu = 1 + (mu - 1) * 1.05) {
      const double delta =
          std::min(ts / (mu * mu * st), num / ((mu * mu * big * big + mu * ex * ex) / (ts * (mu - 1)) + st));
      EXPECT_LE(delta, best.delta * (1 + 1e-9));
    }
  }
}

TEST(ModifiedConvergence, LargerPenaltiesAreSlower) {
  double before = 1;
  for (const double eta : {10.0, 20.0, 40.0, 80.0}) {
    const double delta = rate(graph("ring", 5), run(5, eta, 10, 0.1, 3), 1).corrected->delta;
    EXPECT_LT(delta, before);
    before = delta;
  }
}

// 1ᵀ(E L + L E)1 = 0 with E = W − θI and L = D − A; a semidefinite matrix then has (E L + L E)1 = L e = 0, so e is
// constant.
TEST(ModifiedConvergence, TheProofOf19NeedsEqualPenalties) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int trial = 0; trial < 50; ++trial) {
    const Matrix l = graph("random", 6).laplacian(-1);
    Vector e = Vector::Constant(6, 1);
    EXPECT_GT(least_eigenvalue(symmetric_part(e.asDiagonal() * l)), -1e-12);
    e[trial % 6] += 0.01 + uniform(random);
    EXPECT_LT(least_eigenvalue(symmetric_part(e.asDiagonal() * l)), -1e-6);
  }
  PublicRun r = run(5, 1, 1, 0.04, 1);
  r.penalty[0][3] = 50;
  EXPECT_FALSE(rate(graph("ring", 5), r, 1).corrected.has_value());
  EXPECT_LT(rate(graph("ring", 5), r, 1).monotone_margin, 0);
  EXPECT_FALSE(
      rate(graph("ring", 5), run(5, 1, 2, 0.1, 1), 1).corrected.has_value());  // nor is anything proved for eta < theta
}

// M-ADMM on ½ h_i (f − x_i)² for given h, x: the squared distances |Z(t) − Z*|² in the norm of J.
std::vector<double> distances(const Graph& g, const Vector& h, const Vector& x, double eta, double theta, int rounds) {
  const Matrix minus = g.laplacian(-1), plus = g.laplacian(1);
  const Eigen::SelfAdjointEigenSolver<Matrix> e(minus);
  const Vector inverse_root = e.eigenvalues().unaryExpr([](double v) { return v < 1e-9 ? 0 : 1 / std::sqrt(v); });
  const Matrix to_y = e.eigenvectors() * inverse_root.asDiagonal() * e.eigenvectors().transpose();  // Y = (D−A)^(−½) 2Λ
  const Vector best = Vector::Constant(h.size(), h.dot(x) / h.sum()), y_best = -to_y * h.cwiseProduct(best - x);
  Vector f = Vector::Zero(h.size()), twice_dual = f;
  std::vector<double> result;
  for (int t = 0; t <= rounds; ++t) {
    const Vector ef = f - best, ey = to_y * twice_dual - y_best;
    result.push_back(ey.squaredNorm() / theta + eta * ef.dot(plus * ef));
    f = (h.cwiseProduct(x) - twice_dual + eta * plus * f).cwiseQuotient(h + 2 * eta * plus.diagonal());  // (13)
    twice_dual += theta * minus * f;                                                                     // (14)
  }
  return result;
}

TEST(ModifiedConvergence, EveryRoundShrinksByTheCorrectedRate) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int trial = 0; trial < 200; ++trial) {
    const int n = 3 + trial % 5;
    const Graph g = network::make_graph({.graph = "random", .edge_probability = 0.7, .graph_seed = trial}, n);
    const Vector h = Vector::NullaryExpr(n, [&] { return std::exp(3 * uniform(random)); }),
                 x = Vector::NullaryExpr(n, [&] { return uniform(random); });
    const double theta = std::exp(4 * uniform(random) - 2),
                 eta = trial % 2 == 0 ? theta : theta * (1 + 3 * uniform(random));
    const double delta = rate(g, run(n, eta, theta, h.minCoeff(), h.maxCoeff()), 1).corrected->delta;
    const auto d = distances(g, h, x, eta, theta, 12);
    for (std::size_t t = 1; t < d.size(); ++t)
      EXPECT_LE((1 + delta) * d[t], d[t - 1] * (1 + 1e-9)) << trial << " " << t;
  }
}

TEST(ModifiedConvergence, ThePrintedRateIsTooLargeWhenOnlyTheMeanMoves) {
  const int n = 5;
  const Graph g = graph("ring", n);
  const PublicRun r = run(n, 20, 10, 0.1, 0.1);
  const auto d = distances(g, Vector::Constant(n, 0.1), Vector::Constant(n, 1), 20, 10, 3);
  const RoundRate rates = rate(g, r, 1);
  EXPECT_GT((1 + rates.printed.delta) * d[2], d[1]);
  EXPECT_LE((1 + rates.corrected->delta) * d[2], d[1]);
}

}  // namespace
}  // namespace parley::theory
