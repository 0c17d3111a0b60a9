#include "parley/algorithm/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "parley/base/error.h"
#include "parley/base/message_test.h"
#include "parley/base/public_random.h"

namespace parley::algorithm {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

Setting setting(int nodes, double records = 8000, int degree = 2) {
  return {.degree = std::vector<int>(static_cast<std::size_t>(nodes), degree),
          .records = std::vector<double>(static_cast<std::size_t>(nodes), records)};
}

TEST(Schedule, TheIssuesGoldenNumbers) {
  const Plan plan = make_plan({.algorithm = "mr-admm", .noise_rate = {1}}, setting(5), true);
  EXPECT_NEAR(*plan.epsilon_paper(), 11.88411844708, 1e-10);
  EXPECT_NEAR(plan.epsilon(), 10.9375, 1e-12);
  EXPECT_EQ(plan.nodes[0].private_rounds.size(), 25U);
}

TEST(Schedule, RecycledAlgorithmsPayForHalfOfTheirRoundsRoundedUp) {
  for (const auto& [rounds, paid] :
       std::vector<std::pair<long, std::size_t>>{{1, 1}, {2, 1}, {3, 2}, {50, 25}, {51, 26}}) {
    EXPECT_EQ(make_plan({.algorithm = "r-admm", .rounds = rounds}, setting(5)).nodes[0].private_rounds.size(), paid);
    EXPECT_EQ(make_plan({.algorithm = "dvp", .rounds = rounds}, setting(5)).nodes[0].private_rounds.size(),
              static_cast<std::size_t>(rounds));
  }
}

TEST(Schedule, PenaltiesNoiseAndDampingFollowTheirGrowth) {
  const Plan plan = make_plan({.algorithm = "mr-admm",
                               .rounds = 10,
                               .penalty = {2, 3},
                               .penalty_growth = {1.1, 1.2},
                               .penalty_growth_rounds = 3,
                               .damping = 0.5,
                               .damping_growth = 2,
                               .noise_rate = {1, 4},
                               .noise_rate_growth = {0.5, 1}},
                              setting(2));
  const auto& second = plan.nodes[1].private_rounds;
  for (std::size_t k = 0; k < 5; ++k) {
    EXPECT_DOUBLE_EQ(second[k].penalty, 3 * std::pow(1.2, std::min<double>(static_cast<double>(k), 2)));
    EXPECT_DOUBLE_EQ(second[k].damping, 0.5 * std::pow(2.0, static_cast<double>(k)));
    EXPECT_DOUBLE_EQ(second[k].objective_rate, 4);
    EXPECT_DOUBLE_EQ(plan.nodes[0].private_rounds[k].objective_rate, std::pow(0.5, static_cast<double>(k)));
    EXPECT_DOUBLE_EQ(second[k].strong_convexity, 0.11 + 4 * second[k].penalty);
  }
}

TEST(Schedule, TheCommonDualStepIsTheSmallestPenaltyOfTheRound) {
  const Options o{.algorithm = "mr-admm", .rounds = 10, .penalty = {2, 1}, .penalty_growth = {1, 1.5}};
  const Plan plan = make_plan(o, setting(2));
  for (const Schedule& s : plan.nodes)
    for (std::size_t k = 0; k < 5; ++k)
      EXPECT_DOUBLE_EQ(s.private_rounds[k].dual_step, std::min(2.0, std::pow(1.5, static_cast<double>(k))));
  EXPECT_THAT(plan.warnings, IsEmpty());
}

TEST(Schedule, ModifiedAdmmKeepsTheFirstDualStep) {  // ZKL18: theta fixed, eta grows
  const Plan plan = make_plan({.algorithm = "pp", .penalty = {0.5}, .penalty_growth = {1.1}}, setting(3));
  EXPECT_DOUBLE_EQ(plan.nodes[2].private_rounds.back().dual_step, 0.5);
}

TEST(Schedule, ThePapersPerNodeDualStepWarns) {
  const Plan plan = make_plan({.algorithm = "mr-admm", .penalty = {1, 0.8}, .dual_step = "penalty"}, setting(2));
  EXPECT_DOUBLE_EQ(plan.nodes[1].private_rounds[0].dual_step, 0.8);
  ASSERT_EQ(plan.warnings.size(), 1U);
  EXPECT_THAT(plan.warnings[0], HasSubstr("not to the optimum"));
  EXPECT_THAT(make_plan({.algorithm = "mr-admm", .dual_step = "penalty"}, setting(2)).warnings,
              IsEmpty());  // equal penalties: the same thing
}

TEST(Schedule, TheSolversToleranceIsPartOfTheGuarantee) {
  const Options o{.algorithm = "mr-admm"};
  const double exact = make_plan(o, setting(5), true).epsilon(), real = make_plan(o, setting(5)).epsilon();
  EXPECT_GT(real, exact * (1 + 0.99e-4));
  EXPECT_LT(real, exact * (1 + 1.01e-4));
  EXPECT_GT(make_plan(o, setting(5)).nodes[0].private_rounds[0].output_rate, 0);
}

TEST(Schedule, EveryNodeHasItsOwnLossAndTheTotalIsTheLargest) {
  Setting s = setting(3);
  s.records = {1000, 2000, 4000};
  const Plan plan = make_plan({.algorithm = "r-admm"}, s, true);
  EXPECT_NEAR(plan.nodes[0].epsilon, 4 * plan.nodes[2].epsilon, 1e-9);
  EXPECT_EQ(plan.epsilon(), plan.nodes[0].epsilon);
  const Plan by_rows = make_plan({.algorithm = "r-admm", .weighting = "rows"}, s, true);
  EXPECT_NEAR(by_rows.nodes[0].epsilon, by_rows.nodes[2].epsilon, 1e-12);
  EXPECT_NEAR(by_rows.nodes[0].weight, 1750 * 3.0 / 7000, 1e-15);
}

TEST(Schedule, AViolatedConditionMakesThePrintedBoundAbsentAndLeavesTheProvedOne) {
  const Plan plan = make_plan({.algorithm = "mr-admm", .penalty = {0.01}}, setting(5, 200));
  EXPECT_FALSE(plan.epsilon_paper());
  EXPECT_THAT(plan.epsilon_paper_absent(), HasSubstr("2 c1 < (B/C)"));
  EXPECT_GT(plan.epsilon(), 0);
  EXPECT_TRUE(plan.warnings.empty()) << plan.warnings.front();  // nothing has to be done about it
}

TEST(Schedule, PrintedBoundsAreAbsentWhereThePapersPrintNone) {
  EXPECT_THAT(make_plan({.algorithm = "pvp"}, setting(5)).epsilon_paper_absent(), HasSubstr("noise on the output"));
  EXPECT_THAT(make_plan({.algorithm = "dvp", .loss = "huber-hinge"}, setting(5)).epsilon_paper_absent(),
              HasSubstr("Assumption 4"));
  EXPECT_THAT(make_plan({.algorithm = "admm"}, setting(5)).epsilon_paper_absent(), HasSubstr("no noise"));
}

TEST(Schedule, AlgorithmsHaveTheNoiseOfTheirDefinition) {
  for (const auto& [name, noisy] : std::vector<std::pair<std::string, bool>>{{"admm", false},
                                                                             {"m-admm", false},
                                                                             {"dvp", true},
                                                                             {"pvp", true},
                                                                             {"pp", true},
                                                                             {"r-admm", true},
                                                                             {"mr-admm", true}})
    EXPECT_EQ(make_plan({.algorithm = name}, setting(5)).noisy(), noisy) << name;
  EXPECT_TRUE(make_plan({.algorithm = "admm", .noise = "gamma"}, setting(5)).noisy());
  EXPECT_FALSE(make_plan({.algorithm = "mr-admm", .noise = "none"}, setting(5)).noisy());
  const Plan pvp = make_plan({.algorithm = "pvp"}, setting(5));
  EXPECT_EQ(pvp.nodes[0].private_rounds[0].objective_rate, 0);
  EXPECT_EQ(pvp.nodes[0].private_rounds[0].output_rate, 0.5);
  const Plan pp = make_plan({.algorithm = "pp", .penalty = {0.5}, .noise_rate = {3}}, setting(5));
  EXPECT_EQ(pp.nodes[0].private_rounds[0].objective_rate, 1.5);
}

TEST(Schedule, RulesBetweenOptionsNameTheirClause) {
  EXPECT_THAT(message_of([] { make_plan({.algorithm = "r-admm", .penalty_growth = {1.1}}, setting(5)); }),
              HasSubstr("use --algorithm mr-admm"));
  EXPECT_THAT(message_of([] { make_plan({.algorithm = "admm", .penalty_growth = {1.1}}, setting(5)); }),
              HasSubstr("ZKL18 (8)(9)"));
  EXPECT_THAT(message_of([] { make_plan({.algorithm = "mr-admm", .penalty = {1, 2}}, setting(5)); }),
              HasSubstr("penalty has 2 values for 5 nodes"));
  EXPECT_THAT(message_of([] { make_plan({.algorithm = "mr-admm", .dual_step = "1,2"}, setting(5)); }),
              HasSubstr("dual-step has 2 values"));
  EXPECT_THAT(message_of([] { make_plan({.algorithm = "pp", .noise_on = "output"}, setting(5)); }),
              HasSubstr("penalty term"));
  EXPECT_THAT(message_of([] { make_plan({.algorithm = "mr-admm", .noise = "gaussian"}, setting(5)); }),
              HasSubstr("give --epsilon"));
}

TEST(Schedule, GrowthThatFreezesWarnsAndGrowthThatCannotBeCertifiedIsRefused) {
  EXPECT_THAT(make_plan({.algorithm = "mr-admm", .penalty_growth = {1.04}}, setting(5)).warnings, IsEmpty());
  EXPECT_THAT(make_plan({.algorithm = "mr-admm", .penalty_growth = {1.2}}, setting(5)).warnings,
              ::testing::Contains(HasSubstr("freeze")));
  EXPECT_THAT(
      make_plan({.algorithm = "mr-admm", .penalty_growth = {1.2}, .penalty_growth_rounds = 5}, setting(5)).warnings,
      IsEmpty());
  EXPECT_THAT(message_of([] { make_plan({.algorithm = "pp", .rounds = 120, .penalty_growth = {1.2}}, setting(5)); }),
              HasSubstr("--penalty-growth-rounds"));
}

// The round trip of the budget: for random settings, what was calibrated never exceeds the target and wastes less than
// a thousandth.
TEST(Planner, AThousandRandomBudgetsAreKeptAndUsed) {
  PublicRandom draw(5, PublicRandom::Purpose::rows);
  const std::vector<std::string> names = {"dvp",    "pvp",         "pp",       "r-admm", "mr-admm",
                                          "m-admm", "linear-admm", "star-pvp", "dp-admm"};
  int infeasible = 0;
  const int settings = std::getenv("PARLEY_TEST_SHORT") != nullptr ? 60 : 1000;
  for (int i = 0; i < settings; ++i) {
    const int nodes = 2 + static_cast<int>(draw.below(4));
    Setting s{.degree = std::vector<int>(static_cast<std::size_t>(nodes), 1),
              .records = {},
              .features = 1 + static_cast<long>(draw.below(200)),
              .classes = 2 + static_cast<int>(draw.below(5))};
    std::vector<double> budget;
    for (int k = 0; k < nodes; ++k) {
      s.records.push_back(std::floor(std::exp(3 + 8 * draw.uniform())));
      budget.push_back(std::exp(-3 + 5 * draw.uniform()));
    }
    Options o{.algorithm = names[draw.below(names.size())], .rounds = 1 + static_cast<long>(draw.below(80))};
    o.epsilon = draw.uniform() < 0.5 ? std::vector<double>{budget[0]} : budget;
    o.weighting = draw.uniform() < 0.3 ? "rows" : "equal";
    if (draw.uniform() < 0.4) {
      o.noise = "gamma";
      o.delta = draw.uniform() < 0.5 ? 0 : 1e-6;
    } else {
      o.delta = std::pow(10, -3 - 6 * draw.uniform());
      if (draw.uniform() < 0.3) o.loss = "huber-hinge";
    }
    if (draw.uniform() < 0.2) o.loss = "softmax";
    if (draw.uniform() < 0.3) o.regularizer = draw.uniform() < 0.5 ? "l1" : "elastic-net";
    if ((o.loss != problem::LossKind::logistic || o.regularizer != Regularizer::l2) && o.algorithm == "pp")
      o.algorithm = "dvp";
    const Algorithm& a = algorithm_named(o.algorithm);
    if (a.linear && draw.uniform() < 0.3) o.loss = "hinge";
    if (a.linear && draw.uniform() < 0.3) o.step_size = "convex";
    if (o.algorithm == "star-pvp" && draw.uniform() < 0.3) o.sensitivity = "paper";
    if (draw.uniform() < 0.2) o.noise_on = o.algorithm == "pp" || a.linear ? "auto" : "output";
    if (draw.uniform() < 0.3) o.bound = "verified";
    if (draw.uniform() < 0.3) o.penalty = {std::exp(-2 + 6 * draw.uniform())};
    try {
      const Plan plan = make_plan(o, s);
      for (int k = 0; k < nodes; ++k) {
        const double target = o.epsilon.size() == 1 ? o.epsilon[0] : o.epsilon[static_cast<std::size_t>(k)];
        EXPECT_LE(plan.nodes[static_cast<std::size_t>(k)].epsilon, target) << i;
        const double used =
            o.sensitivity == Sensitivity::paper ? 0 : 0.999;  // the paper's sensitivity is far too large
        EXPECT_GE(plan.nodes[static_cast<std::size_t>(k)].epsilon, used * target)
            << i << " " << o.algorithm << " " << o.noise.text << " " << o.rounds;
      }
    } catch (const Error& e) {
      ++infeasible;
      EXPECT_THAT(std::string(e.what()), ::testing::AnyOf(HasSubstr("infeasible"), HasSubstr("certified"))) << i;
    }
  }
  EXPECT_LT(infeasible, 350);
}

TEST(Planner, SetsTheNoiseToThreeQuartersOfTheCurvatureAtEveryNode) {
  Setting s = setting(3);
  s.records = {500, 1000, 8000};
  s.degree = {1, 2, 1};
  const Plan plan = make_plan({.algorithm = "mr-admm", .epsilon = {0.5, 1, 2}}, s);
  for (const Schedule& n : plan.nodes)
    EXPECT_NEAR(n.private_rounds[0].objective_scale / n.private_rounds[0].strong_convexity, 0.75, 1e-3);
  EXPECT_TRUE(plan.average);
  EXPECT_FALSE(plan.verified_only());
  EXPECT_THAT(plan.warnings, ::testing::Not(::testing::Contains(HasSubstr("dual-step"))));
}

TEST(Planner, ADeltaThatCouldPublishARecordWarns) {
  Options o{.algorithm = "mr-admm", .epsilon = {1}};
  o.delta = 1e-3;
  EXPECT_THAT(make_plan(o, setting(5)).warnings, ::testing::Contains(HasSubstr("1/records")));
}

TEST(Planner, GaussianNoiseInTheObjectiveIsForTheLogisticLossOnly) {
  EXPECT_EQ(make_plan({.algorithm = "mr-admm", .loss = "huber-hinge", .epsilon = {1}}, setting(5)).nodes[0].place,
            Place::output);
  EXPECT_THAT(message_of([] {
                make_plan({.algorithm = "mr-admm", .loss = "huber-hinge", .noise_on = "objective", .epsilon = {1}},
                          setting(5));
              }),
              HasSubstr("logistic loss only"));
}

TEST(Planner, WhatIsOnlyVerifiedSaysSo) {
  Options o{.algorithm = "dvp", .rounds = 25, .penalty = {1}, .noise = "gaussian", .noise_scale = {12}};
  const Plan proved = make_plan(o, setting(5));
  o.bound = "verified";
  const Plan verified = make_plan(o, setting(5));
  EXPECT_FALSE(proved.verified_only());
  EXPECT_TRUE(verified.verified_only());
  EXPECT_LT(verified.epsilon(), proved.epsilon());
  EXPECT_THAT(verified.nodes[0].theorem, HasSubstr("not a proof"));
}

TEST(Schedule, WhatCannotBeDrawnOrSolvedIsRefusedBeforeAnybodyPays) {
  Options loud{.algorithm = "pvp"};
  loud.noise = Noise::gaussian;
  loud.noise_scale = {1e160};
  EXPECT_THROW(make_plan(loud, setting(5)), Error);
  Options wide{.algorithm = "star-pvp"};
  wide.epsilon = {1};
  wide.regularizer = Regularizer::l1;
  Setting many = setting(5);
  many.features = 6000;
  EXPECT_THROW(make_plan(wide, many), Error);
  many.features = 5000;
  EXPECT_NO_THROW(make_plan(wide, many));
}

}  // namespace
}  // namespace parley::algorithm
