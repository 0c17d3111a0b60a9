#include "parley/theory/recycled.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <random>

#include "parley/theory/spectrum.h"

namespace parley::theory {
namespace {

using network::Graph;
using ::testing::HasSubstr;

Graph recycled_graph(const std::string& shape, int nodes) {
  return network::make_graph({.graph = shape, .edge_probability = 0.6}, nodes);
}

PublicRun recycled_run(int nodes, double penalty, double most, int rounds = 1, double growth = 1) {
  PublicRun r{.least_curvature = Vector::Constant(nodes, 0.01), .most_curvature = Vector::Constant(nodes, most)};
  for (int k = 0; k < rounds; ++k) r.penalty.push_back(Vector::Constant(nodes, penalty * std::pow(growth, k)));
  r.dual_step = r.penalty;
  return r;
}

// On a regular graph of degree V with one penalty, all matrices share eigenvectors; with q, l = 2V − q the eigenvalues
// of D+A, D−A and s = 2ηV + γ:  (iii)  s + ηq > 2M²/(ηl) for l > 0,   (iv)  ηq(s − 2ηV) > 2M²  ⇔  γ > 2M²/(ηq).
TEST(RecycledConditions, HandComputedOnRegularGraphs) {
  struct Case {
    std::string shape;
    int nodes;
    double degree, least_signless, least_laplacian, its_signless;
  };
  const double s5 = std::sqrt(5.0);
  for (const Case& c : {Case{"complete", 3, 2, 1, 3, 1}, Case{"complete", 4, 3, 2, 4, 2},
                        Case{"ring", 5, 2, (3 - s5) / 2, (5 - s5) / 2, 4 - (5 - s5) / 2}})
    for (const double eta : {0.5, 1.0, 3.0})
      for (const double m : {0.3, 2.0, 40.0}) {
        const RecycledConditions conditions(recycled_graph(c.shape, c.nodes), recycled_run(c.nodes, eta, m));
        const double fourth = 2 * m * m / (eta * c.least_signless);
        const double third = 2 * m * m / (eta * c.least_laplacian) - eta * (2 * c.degree + c.its_signless);
        EXPECT_NEAR(*conditions.smallest_damping(2, 2).damping, std::max(fourth, third), 1e-7 * fourth)
            << c.shape << " " << eta << " " << m;
      }
}

// With U = 2/L: c = ηl(s + ηq)/M², a = min_q ηq(s − ηl − Uηq)/M², and the boundary is where max_U { U − 1/a(U) } = 1/c.
TEST(RecycledConditions, TheSearchFindsTheBestConstantsOnTheTriangle) {
  const double eta = 1, m = 10;
  const RecycledConditions conditions(recycled_graph("complete", 3), recycled_run(3, eta, m));
  const double found = *conditions.smallest_damping().damping;
  const auto feasible = [&](double gamma) {
    const double s = 4 * eta + gamma, c = 3 * eta * (s + eta) / (m * m);
    for (double u = 1e-3; u < 1e5; u *= 1.0005) {  // the pairs (q, l) are (4, 0) and (1, 3)
      const double a = std::min(4 * eta * (s - 4 * u * eta), eta * (s - 3 * eta - u * eta)) / (m * m);
      if (a > 0 && 1 / a + 1 / c < u) return true;
    }
    return false;
  };
  EXPECT_TRUE(feasible(found * 1.001));
  EXPECT_FALSE(feasible(found * 0.999));
  EXPECT_LT(found, *conditions.smallest_damping(2, 2).damping / 3);
}

TEST(RecycledConditions, TheConstantsItReturnsSatisfyTheConditionsAsPrinted) {
  for (const auto* shape : {"complete", "random", "small-world"}) {
    const Graph g = recycled_graph(shape, 7);
    PublicRun r = recycled_run(7, 1, 5, 6, 1.1);
    r.most_curvature[2] = 1;
    const RecycledConditions conditions(g, r);
    const double gamma = *conditions.smallest_damping().damping * 1.001;
    const auto k = conditions.constants(gamma);
    ASSERT_TRUE(k.has_value());
    EXPECT_GT(k->mu, 1);
    const Matrix minus = g.laplacian(-1), plus = g.laplacian(1), dm = r.most_curvature.cwiseAbs2().asDiagonal();
    for (std::size_t t = 0; t + 1 < r.penalty.size(); ++t) {
      const Matrix now = r.penalty[t].asDiagonal(), next = r.penalty[t + 1].asDiagonal();
      const Vector d = (2 * now * plus.diagonal()).array() + gamma;
      const Matrix inverse = d.cwiseInverse().asDiagonal();
      const Matrix first = Matrix::Identity(7, 7) + next * plus * inverse -
                           k->l * k->mu / (2 * d.minCoeff()) * pseudo_inverse(next * minus) * dm;
      const Matrix second = next * plus - next * plus * inverse * (now * minus + 2 / k->l * next * plus) -
                            k->l * k->mu / (2 * d.minCoeff() * (k->mu - 1)) * dm;
      EXPECT_GT(least_eigenvalue(symmetric_part(first)), 0);
      EXPECT_GT(least_eigenvalue(symmetric_part(second)), 0);
    }
  }
}

TEST(RecycledConditions, NoOtherConstantsDoBetter) {
  PublicRun r = recycled_run(6, 0.7, 4, 4, 1.2);
  r.most_curvature << 1, 4, 2, 3, 0.5, 4;
  const RecycledConditions conditions(recycled_graph("random", 6), r);
  const double gamma = *conditions.smallest_damping().damping * 0.999;
  for (double l = 1e-4; l < 1e3; l *= 1.15)
    for (double mu = 1.001; mu < 1e4; mu = 1 + (mu - 1) * 1.3)
      ASSERT_FALSE(conditions.hold(gamma, l, mu)) << l << " " << mu;
}

TEST(RecycledConditions, TheSmallestDampingIsTheBoundary) {
  for (const auto* shape : {"complete", "random", "small-world", "0-2,0-3,2-3,1-4,3-4"})
    for (const double m : {3.0, 437.5}) {
      const int nodes = shape[0] == '0' ? 5 : 8;
      PublicRun r = recycled_run(nodes, 1, m, 5, 1.03);
      r.penalty.front()[0] *= 0.97;
      const RecycledConditions conditions(recycled_graph(shape, nodes), r);
      const auto searched = conditions.smallest_damping(), fixed = conditions.smallest_damping(2, 2);
      EXPECT_TRUE(conditions.constants(*searched.damping * 1.001).has_value());
      EXPECT_FALSE(conditions.constants(*searched.damping * 0.999).has_value());
      EXPECT_TRUE(conditions.hold(*fixed.damping * 1.001, 2, 2));
      EXPECT_FALSE(conditions.hold(*fixed.damping * 0.999, 2, 2));
      EXPECT_TRUE(searched.every_larger && fixed.every_larger) << shape;
      EXPECT_LE(*searched.damping, *fixed.damping);
    }
}

// All conditions are unchanged when penalties, curvatures and damping are multiplied by one number.
TEST(RecycledConditions, DampingScalesWithPenaltyAndCurvature) {
  const Graph g = recycled_graph("random", 7);
  const RecycledConditions one(g, recycled_run(7, 1, 20)), two(g, recycled_run(7, 2, 40)),
      curved(g, recycled_run(7, 1, 40));
  EXPECT_NEAR(*two.smallest_damping().damping, 2 * *one.smallest_damping().damping,
              1e-5 * *two.smallest_damping().damping);
  EXPECT_NEAR(*two.smallest_damping(2, 2).damping, 2 * *one.smallest_damping(2, 2).damping,
              1e-6 * *two.smallest_damping(2, 2).damping);
  EXPECT_GT(*curved.smallest_damping().damping, *one.smallest_damping().damping);
  EXPECT_NEAR(*RecycledConditions(recycled_graph("ring", 5), recycled_run(5, 1, 40)).smallest_damping(2, 2).damping /
                  *RecycledConditions(recycled_graph("ring", 5), recycled_run(5, 1, 20)).smallest_damping(2, 2).damping,
              4, 1e-6);
}

TEST(RecycledConditions, NeverHoldOnABipartiteGraph) {
  for (const auto* shape : {"path", "star", "grid", "ring"}) {
    const RecycledConditions conditions(recycled_graph(shape, 6), recycled_run(6, 1, 0.3));
    for (const auto& smallest : {conditions.smallest_damping(), conditions.smallest_damping(2, 2)}) {
      EXPECT_FALSE(smallest.damping.has_value());
      EXPECT_THAT(smallest.why_none, HasSubstr("bipartite"));
    }
    for (const double gamma : {0.0, 1.0, 1e3, 1e6})
      EXPECT_FALSE(conditions.constants(gamma).has_value()) << shape << gamma;
  }
}

// The paper says that a large enough damping always satisfies (i), (ii). Not so, on any graph, when penalties differ
// too much.
TEST(RecycledConditions, NeverHoldWithPenaltiesThatDifferTooMuch) {
  PublicRun r = recycled_run(3, 1, 0.3);
  r.penalty[0] << 1, 1, 200;
  const RecycledConditions conditions(recycled_graph("complete", 3), r);
  EXPECT_THAT(conditions.smallest_damping().why_none, HasSubstr("too unequal"));
  for (const double gamma : {1.0, 1e3, 1e6, 1e9}) EXPECT_FALSE(conditions.constants(gamma).has_value());
}

TEST(RecycledConditions, NeverHoldOnABipartiteGraphWithUnequalPenaltiesEither) {
  PublicRun r = recycled_run(4, 1, 0.3);
  r.penalty[0] << 1, 1.1, 0.9, 1;
  EXPECT_THAT(RecycledConditions(recycled_graph("ring", 4), r).smallest_damping().why_none, HasSubstr("bipartite"));
}

// Falsification. Quadratics O_i = ½ (f − x_i)ᵀ H_i (f − x_i) with 0 ⪯ H_i ⪯ M I: with damping above the bound, R-ADMM
// and MR-ADMM converge.
TEST(RecycledConditions, RunsWithTheSmallestDampingConverge) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::normal_distribution<double> normal;
  const int d = 3;
  for (int trial = 0; trial < 12; ++trial) {
    const int n = 3 + trial % 4;
    const Graph g = trial % 2 == 0
                        ? recycled_graph("complete", n)
                        : network::make_graph({.graph = "random", .edge_probability = 0.8, .graph_seed = trial}, n);
    if (g.bipartite()) continue;
    const double m = std::exp(3 * uniform(random)), growth = trial % 3 == 0 ? 1.02 : 1;
    const PublicRun r = recycled_run(n, 0.5 + uniform(random), m, 20, growth);
    const RecycledConditions conditions(g, r);
    const double gamma = *conditions.smallest_damping().damping * 1.01 + 1e-9;
    std::vector<Matrix> h;
    std::vector<Vector> x;
    Matrix sum = Matrix::Zero(d, d);
    Vector right = Vector::Zero(d);
    for (int i = 0; i < n; ++i) {
      const Matrix a = Matrix::NullaryExpr(d, d, [&] { return normal(random); });
      Matrix s = a * a.transpose();
      h.push_back(s * m / largest_eigenvalue(s));
      x.push_back(Vector::NullaryExpr(d, [&] { return normal(random); }));
      sum += h.back();
      right += h.back() * x.back();
    }
    const Vector best = sum.ldlt().solve(right);
    std::vector<Vector> f(static_cast<std::size_t>(n), Vector::Zero(d)), dual = f;
    const auto at = [](auto& v, int i) -> auto& { return v[static_cast<std::size_t>(i)]; };
    const auto differences = [&](int i) {
      Vector s = Vector::Zero(d);
      for (const int j : g.neighbours(i)) s += at(f, i) - at(f, j);
      return s;
    };
    for (int k = 0; k < 60000; ++k) {
      const double eta = r.penalty[static_cast<std::size_t>(std::min(k, 19))][0];
      std::vector<Vector> next = f;
      for (int i = 0; i < n; ++i) {  // (14)
        Vector pull = at(h, i) * at(x, i) - 2 * at(dual, i);
        for (const int j : g.neighbours(i)) pull += eta * (at(f, i) + at(f, j));
        at(next, i) = (at(h, i) + 2 * eta * g.degree(i) * Matrix::Identity(d, d)).ldlt().solve(pull);
      }
      f = next;
      for (int i = 0; i < n; ++i) at(dual, i) += eta / 2 * differences(i);  // (15)
      for (int i = 0; i < n; ++i)                                           // (16)
        at(next, i) = at(f, i) - (at(h, i) * (at(f, i) - at(x, i)) + 2 * at(dual, i) + eta * differences(i)) /
                                     (2 * eta * g.degree(i) + gamma);
      f = next;
    }
    for (const Vector& v : f) EXPECT_LT((v - best).norm(), 1e-5) << "trial " << trial;
  }
}

}  // namespace
}  // namespace parley::theory
