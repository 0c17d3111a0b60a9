// What a party may claim for what it released, and the words for it.
#include "parley/study/part_history.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "parley/study/agreement.h"

namespace parley::study {
namespace {

Part four_in_a_ring(const std::string& noise) {
  algorithm::Options o;
  o.algorithm = "m-admm";
  o.rounds = 8;
  o.loss_weight = 1;
  o.noise = noise;
  o.epsilon = {2};
  const network::Graph graph = network::make_graph({.graph = "ring"}, 4);
  const algorithm::Setting setting{.degree = graph.degrees(), .records = {5, 6, 7, 8}, .features = 3};
  const algorithm::Plan plan = algorithm::make_plan(o, setting);
  return first_part(agreement(plan, 3, graph, {"a", "b", "c", "d"}, "run-1", "{}", "hash"), setting, plan);
}

TEST(PartHistory, WhatIsClaimedIsTheSumAtDeltaZeroAndThePlanAboveIt) {
  for (const std::string noise : {"gamma", "gaussian"}) {
    const Part all = four_in_a_ring(noise);
    const Part rest = next_part(
        all, {.members = {0, 2, 3}, .released = {4, 5, 4}, .edges = {{0, 3}, {2, 3}}, .through = 4, .id = {}});
    const ReleasedPart first{.part = &all, .self = 2, .released = 5, .through = 4},
        second{.part = &rest, .self = 1, .released = 3};
    const double planned = all.plan.nodes[2].epsilon, early = epsilon_of({first}, false).epsilon,
                 both = epsilon_of({first, second}, false).epsilon;
    EXPECT_EQ(rounds_released({first, second}), 6 + 4);
    EXPECT_EQ(rounds_from_rows({first, second}), 5 + 3) << "what was released beyond the common round too";
    if (noise == "gaussian") {
      EXPECT_EQ(early, planned) << "a run that ended early";
      EXPECT_EQ(both, planned) << "the sum is a filter: it bounds the planned run";
    } else {
      EXPECT_NEAR(both, early + spend_of({second}, privacy::Against::anybody).epsilon(), 1e-12);
      EXPECT_LT(both, planned);
    }
    const auto words = in_words(to_json({first, second}), false, true);
    EXPECT_EQ(words[1], "part 2: without b, by a, c, d; 4 rounds from round 4 on");
    EXPECT_EQ(words[2], "The model is that of a, c, d; through round 4 they worked with b too.");
    EXPECT_EQ(in_words(to_json({first, second}), false, false).size(), 2U) << "ended early: no joint model";
  }
}

Part three_parties(const std::string& algorithm, double delta) {
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

TEST(PartHistory, WhereNothingWasComputedFromRowsNothingWasLost) {
  for (const double delta : {0.0, 1e-6}) {
    const Part part = three_parties("pp", delta);
    for (const int released : {-1, 0}) {
      const PartHistory told = {{.part = &part, .self = 0, .released = released}};
      EXPECT_EQ(epsilon_of(told, false).epsilon, 0);
      EXPECT_EQ(delta_of(told), 0);
      EXPECT_FALSE(has_learnt(told));
    }
    const PartHistory told = {{.part = &part, .self = 0, .released = 1}};
    EXPECT_GT(epsilon_of(told, false).epsilon, 0);
    EXPECT_EQ(delta_of(told), delta);
    EXPECT_TRUE(has_learnt(told));
  }
}

TEST(PartHistory, ACountThatNobodyHasConfirmedIsThePlannedOne) {
  const Part part = three_parties("pp", 0);
  for (const int released : {-1, 0, 3}) {
    const PartHistory told = {{.part = &part, .self = 0, .released = released}};
    EXPECT_EQ(epsilon_of(told, false, false).epsilon, part.plan.nodes[0].epsilon);
    EXPECT_LT(epsilon_of(told, false, true).epsilon, part.plan.nodes[0].epsilon);
  }
}

TEST(PartHistory, SilentTurnsAreNoValues) {
  const Part part = three_parties("dp-admm", 1e-6);
  const PartHistory provider = {{.part = &part, .self = 0, .released = 6}},
                    trainer = {{.part = &part, .self = 2, .released = 6}};
  EXPECT_EQ(rounds_released(provider), 7);
  EXPECT_EQ(values_released(provider), 4);  // rounds 0, 1, 3, 5
  EXPECT_EQ(values_released(trainer), 4);   // rounds 0, 2, 4, 6
  EXPECT_EQ(rounds_from_rows(provider), 3);
  EXPECT_TRUE(has_learnt(trainer));
  EXPECT_FALSE(has_learnt({{.part = &part, .self = 2, .released = 1}}));
}

}  // namespace
}  // namespace parley::study
