// Without noise every algorithm of the family ends at the optimum that no party could compute alone.
#include <gtest/gtest.h>

#include "paper/fixture.h"

namespace parley::paper {
namespace {

enum class Penalties { equal, own, growing };

struct PeerCase {
  std::string algorithm;
  int nodes;
  Penalties penalties;
};

std::string peer_name_of(const testing::TestParamInfo<PeerCase>& info) {
  std::string name = info.param.algorithm;
  std::erase(name, '-');
  const char* how[] = {"EqualPenalties", "OwnPenalties", "OwnPenaltiesThatGrow"};
  return name + "_" + std::to_string(info.param.nodes) + "Nodes_" + how[static_cast<int>(info.param.penalties)];
}

std::vector<PeerCase> peer_cases() {
  std::vector<PeerCase> all;
  for (const int nodes : {5, 20})
    for (const auto& a : algorithm::algorithms()) {
      if (a.star || a.sums) continue;  // hhcg20_test.cpp, algorithm/newton/newton_test.cpp
      all.push_back({a.name, nodes, Penalties::equal});
      all.push_back({a.name, nodes, Penalties::own});
      if (a.growing) all.push_back({a.name, nodes, Penalties::growing});
    }
  return all;
}

class Noiseless : public testing::TestWithParam<PeerCase> {
 protected:
  // Penalties of [ZKL20] Fig. 1(b) (scaled), which grow by its q_1 for 15 private rounds where they grow.
  static algorithm::Options options() {
    const auto& [algorithm, nodes, penalties] = GetParam();
    auto o = plain(algorithm, algorithm::algorithm_named(algorithm).recycled ? 500 : 300);
    const double scale = nodes == 5 ? 0.05 : 0.02;
    o.regularization = 0.04 * nodes;
    o.penalty = penalties == Penalties::equal ? std::vector{scale} : figure_1b(nodes, scale);
    if (penalties == Penalties::growing) {
      o.penalty_growth.clear();
      for (int i = 0; i < nodes; ++i)
        o.penalty_growth.push_back(std::vector{1.02, 1.01, 1.006, 1.03, 1.02}[static_cast<std::size_t>(i % 5)]);
      o.penalty_growth_rounds = 15;
    }
    return o;
  }
  static std::vector<data::Rows> rows() {
    const int nodes = GetParam().nodes;
    return short_run() ? unlike_rows(nodes, 10, 4) : census_rows(nodes, 600);
  }
  static network::Graph graph() { return GetParam().nodes == 5 ? five() : twenty(); }
};

// [ZKL18] Thm 3.1, [ZKL20] Thm 1: "(f(t), Lambda(t)) converges to (f*, Lambda*)", here for unlike data, 5 and 20 nodes.
TEST_P(Noiseless, EndsAtTheCentralisedOptimum) {
  const Simulation simulation(rows(), graph(), options());
  const Transcript run = drive(simulation);
  ASSERT_EQ(run.outcome, run::Outcome::completed);
  EXPECT_LT(run.distance(simulation.optimum()), 1e-8);
  EXPECT_GT(run.distance(0, simulation.optimum()), 0.1);  // it was not there from the start
  for (const double spent : run.spent)
    EXPECT_EQ(spent, std::numeric_limits<double>::infinity());  // no noise: no promise
}

// [ZKL18] 3.2: "Lambda(t) is in the column space of D - A": the duals sum to 0 in every round. With one dual step for
// all nodes that is so whatever the penalties are.
TEST_P(Noiseless, TheDualsSumToZeroInEveryRound) {
  auto o = options();
  o.rounds = 40;
  const Simulation simulation(rows(), graph(), o);
  const Transcript run = drive(simulation);
  for (int t = 0; t < run.last(); ++t) {
    const Matrix dual = stacked(run.dual(t));
    EXPECT_LT(dual.colwise().sum().norm(), 1e-13 * (1 + dual.norm())) << "round " << t;
  }
}

INSTANTIATE_TEST_SUITE_P(Paper, Noiseless, testing::ValuesIn(peer_cases()), peer_name_of);

// The fixture itself: its oracle is a minimum, its nodes are unlike, and the product's own yardstick agrees with the
// oracle.
TEST(Fixture, TheNodesAreUnlikeAndTheOracleIsAMinimum) {
  const Simulation simulation(census_rows(5, 600), five(), plain("admm", 1));
  const Vector best = simulation.optimum();
  Vector total = Vector::Zero(best.size());
  for (const Dense& d : simulation.dense) {
    total += d.gradient(best);
    EXPECT_GT(d.gradient(best).norm(), 0.01);
    EXPECT_GT((minimise(d, Vector::Zero(best.size()), 0) - best).norm(), 0.3 * best.norm());
  }
  EXPECT_LT(total.norm(), 1e-14);
  // Its gradient is the slope of its value.
  Vector probe = best;
  for (Index k = 0; k < probe.size(); ++k) probe[k] += 0.1 * static_cast<double>(k % 3);
  const Vector g = simulation.dense[0].gradient(probe);
  for (Index k = 0; k < 5; ++k) {
    const Vector h = 1e-5 * Vector::Unit(probe.size(), k);
    EXPECT_NEAR((simulation.dense[0].value(probe + h) - simulation.dense[0].value(probe - h)) / 2e-5, g[k], 1e-8);
  }
}

}  // namespace
}  // namespace parley::paper
