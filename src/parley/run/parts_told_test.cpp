// What a party may claim for what it released.
#include "parley/run/parts_told.h"

#include <gtest/gtest.h>

#include "parley/run/party.h"

namespace parley::run {
namespace {

Part planned(const std::string& algorithm, double delta) {
  algorithm::Options o;
  o.algorithm = algorithm;
  o.rounds = 6;
  o.epsilon = {1};
  o.delta = delta;
  const bool star = algorithm::algorithm_named(algorithm).star;
  const network::Graph graph = star ? network::Graph(3, {{0, 2}, {1, 2}}) : network::Graph(3, {{0, 1}, {1, 2}, {0, 2}});
  const std::size_t holders = star ? 2 : 3;
  algorithm::Setting setting{
      .degree = std::vector<int>(holders, star ? 1 : 2), .records = std::vector<double>(holders, 100), .features = 3};
  const algorithm::Plan plan = algorithm::make_plan(o, setting);
  return first_part(agreement(plan, 3, graph, {"a", "b", "c"}, "run", "{}", "hash"), setting, plan);
}

TEST(PartsTold, WhereNothingWasComputedFromRowsNothingWasLost) {
  for (const double delta : {0.0, 1e-6}) {
    const Part part = planned("pp", delta);
    for (const int released : {-1, 0}) {
      const PartsTold told = {{.part = &part, .self = 0, .released = released}};
      EXPECT_EQ(epsilon_of(told, false), 0);
      EXPECT_EQ(delta_of(told), 0);
      EXPECT_FALSE(has_learnt(told));
    }
    const PartsTold told = {{.part = &part, .self = 0, .released = 1}};
    EXPECT_GT(epsilon_of(told, false), 0);
    EXPECT_EQ(delta_of(told), delta);
    EXPECT_TRUE(has_learnt(told));
  }
}

TEST(PartsTold, ACountThatNobodyHasConfirmedIsThePlannedOne) {
  const Part part = planned("pp", 0);
  for (const int released : {-1, 0, 3}) {
    const PartsTold told = {{.part = &part, .self = 0, .released = released}};
    EXPECT_EQ(epsilon_of(told, false, false), part.plan.nodes[0].epsilon);
    EXPECT_LT(epsilon_of(told, false, true), part.plan.nodes[0].epsilon);
  }
}

TEST(PartsTold, SilentTurnsAreNoValues) {
  const Part part = planned("dp-admm", 1e-6);
  const PartsTold provider = {{.part = &part, .self = 0, .released = 6}},
                  trainer = {{.part = &part, .self = 2, .released = 6}};
  EXPECT_EQ(rounds_released(provider), 7);
  EXPECT_EQ(values_released(provider), 4);  // rounds 0, 1, 3, 5
  EXPECT_EQ(values_released(trainer), 4);   // rounds 0, 2, 4, 6
  EXPECT_EQ(rounds_from_rows(provider), 3);
  EXPECT_TRUE(has_learnt(trainer));
  EXPECT_FALSE(has_learnt({{.part = &part, .self = 2, .released = 1}}));
}

}  // namespace
}  // namespace parley::run
