// Prices for a person with up to g rows (docs/proofs/person.md, theorem P1): what is asked for holds for the person.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "parley/algorithm/newton/newton_plan.h"
#include "parley/algorithm/pricing.h"
#include "parley/algorithm/schedule.h"
#include "parley/base/message_test.h"
#include "parley/privacy/gaussian.h"

namespace parley::algorithm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Setting of_persons(long rows, int nodes = 4, double records = 2000) {
  return {.degree = std::vector<int>(static_cast<std::size_t>(nodes), 2),
          .records = std::vector<double>(static_cast<std::size_t>(nodes), records),
          .features = 10,
          .rows_per_person = rows};
}

const PrivateRound& first_round(const Plan& plan) {
  return plan.nodes.front().private_rounds.front();
}

TEST(PersonPlan, AGivenNoiseCostsAPersonGTimesTheMuOfARow) {
  for (const char* name : {"newton", "dp-gd", "dp-admm", "linear-admm", "mr-admm", "star-pvp", "dvp"}) {
    Options o{.algorithm = name, .rounds = 3, .noise = "gaussian", .noise_scale = {40}, .delta = 1e-5};
    if (name == std::string("mr-admm") || name == std::string("dvp")) o.penalty = {30};
    const Plan row = make_plan(o, of_persons(0)), one = make_plan(o, of_persons(1)), four = make_plan(o, of_persons(4));
    for (std::size_t k = 0; k < row.nodes[0].private_rounds.size(); ++k) {
      const double mu = row.nodes[0].private_rounds[k].charge.mu;
      EXPECT_EQ(one.nodes[0].private_rounds[k].charge.mu, mu) << name;
      EXPECT_NEAR(four.nodes[0].private_rounds[k].charge.mu, 4 * mu, 1e-13 * mu) << name;
      EXPECT_GE(four.nodes[0].private_rounds[k].charge.mu, 4 * mu) << name;
    }
    std::vector<double> mus;
    for (const auto& r : four.nodes[0].private_rounds) mus.push_back(r.charge.mu);
    EXPECT_EQ(four.epsilon(), privacy::gdp_epsilon(privacy::gdp_compose(mus), 1e-5)) << name;
    EXPECT_GT(four.epsilon(), 4 * row.epsilon()) << name;
  }
}

// σ of newton's gradients: G = 0.5, (2G + 2e)/μ with μ = g·(1 + 2e)/σ = 4·1.000002/40.
TEST(PersonPlan, GoldenNumbers) {
  const Plan plan =
      make_plan({.algorithm = "dp-gd", .rounds = 1, .clip = 0.5, .noise_scale = {40}, .delta = 1e-5}, of_persons(4));
  EXPECT_NEAR(first_round(plan).charge.mu, 4 * 1.000002 / 40, 1e-13);
  EXPECT_NEAR(plan.epsilon(), 0.3406693647, 1e-5);  // accounting.md: gdp_eps(0.1, 1e-5)
  const Plan pure =
      make_plan({.algorithm = "mr-admm", .noise_rate = {0.25}},
                {.degree = {2, 2, 2, 2, 2}, .records = {8000, 8000, 8000, 8000, 8000}, .rows_per_person = 4}, true);
  const Plan row = make_plan({.algorithm = "mr-admm", .noise_rate = {0.25}},
                             {.degree = {2, 2, 2, 2, 2}, .records = {8000, 8000, 8000, 8000, 8000}}, true);
  EXPECT_NEAR(pure.epsilon(), 4 * row.epsilon(), 1e-12);
}

TEST(PersonPlan, ABudgetIsKeptAndUsedForThePersonByEveryAlgorithm) {
  for (const char* name : {"newton", "dp-gd", "dp-admm", "linear-admm", "mr-admm", "r-admm", "pp", "star-pvp", "admm"})
    for (const double delta : {1e-6, 0.0})
      for (const long rows : {1L, 3L, 10L}) {
        const bool sums = name == std::string("newton") || name == std::string("dp-gd");
        if (name == std::string("admm") || (sums && delta == 0)) continue;
        const Plan plan =
            make_plan({.algorithm = name, .rounds = 10, .epsilon = {1}, .delta = delta}, of_persons(rows));
        EXPECT_LE(plan.epsilon(), 1) << name << rows;
        EXPECT_GT(plan.epsilon(), 0.999) << name << rows;
      }
}

TEST(PersonPlan, TheSameBudgetForThreeRowsTakesThreeTimesTheNoise) {
  for (const char* name : {"newton", "dp-gd"}) {
    const Options o{.algorithm = name, .rounds = 10, .clip = 0.5, .epsilon = {1}, .delta = 1e-6};
    const Plan row = make_plan(o, of_persons(0)), person = make_plan(o, of_persons(3));
    EXPECT_NEAR(first_round(person).gradient_scale / first_round(row).gradient_scale, 3, 1e-9);
  }
}

TEST(PersonPlan, PenaltiesFollowTheNoiseOfThePerson) {  // σ/κ = 0.75, as the planner has it for one row
  for (const double delta : {1e-6, 0.0})
    for (const long rows : {0L, 4L}) {
      const Plan plan = make_plan({.algorithm = "mr-admm", .epsilon = {1}, .delta = delta}, of_persons(rows));
      const PrivateRound& r = first_round(plan);
      // Gamma noise of rate α has the deviation √(d + 1)/α in each coordinate; d = 10.
      const double sigma = delta > 0 ? r.objective_scale : std::sqrt(11) / r.objective_rate;
      EXPECT_NEAR(sigma / r.strong_convexity, 0.75, 0.02) << delta << " " << rows;
    }
}

TEST(PersonPlan, BothPricesOfSharedNoiseAreMultiplied) {
  const Options o{.algorithm = "newton", .epsilon = {1}, .delta = 1e-6, .colluders = 1};
  const Plan row = make_plan(o, of_persons(0)), person = make_plan(o, of_persons(3));
  EXPECT_LE(person.epsilon(), 1);
  const privacy::Charge &one = first_round(row).charge, &three = first_round(person).charge;
  EXPECT_NEAR(three.mu / *three.mu_colluders, one.mu / *one.mu_colluders, 1e-9);
  EXPECT_NEAR(three.mu, one.mu, 1e-9);
  EXPECT_NEAR(person.epsilon_all_others(), row.epsilon_all_others(), 1e-6);
}

TEST(PersonPlan, WhatIsProvedSaysSoAndThePapersBoundsAreLeftOut) {
  const Plan plan = make_plan({.algorithm = "mr-admm", .noise_rate = {1}}, of_persons(4), true);
  EXPECT_THAT(plan.nodes[0].theorem, HasSubstr("up to 4 rows of a person (docs/proofs/person.md, theorem P1)"));
  EXPECT_FALSE(plan.epsilon_paper());
  EXPECT_THAT(plan.epsilon_paper_absent(), HasSubstr("for one row"));
  EXPECT_THAT(make_plan({.algorithm = "dp-admm", .epsilon = {1}, .delta = 1e-5}, of_persons(4)).epsilon_paper_absent(),
              HasSubstr("for one row"));
  EXPECT_TRUE(make_plan({.algorithm = "mr-admm", .noise_rate = {1}}, of_persons(1), true).epsilon_paper());
}

TEST(PersonPlan, ABoundThatIsOnlyVerifiedIsNotMultiplied) {
  const Options o{
      .algorithm = "dvp", .penalty = {0.001}, .noise = "gaussian", .noise_scale = {0.5}, .bound = "verified"};
  Setting one = of_persons(1), four = of_persons(4);
  EXPECT_TRUE(make_plan(o, one).verified_only());
  EXPECT_THAT(
      message_of([&] { make_plan(o, four); }),
      AllOf(HasSubstr("option --bound"), HasSubstr("only verified numerically"), HasSubstr("4 rows per person")));
}

TEST(PersonPlan, TheForecastCountsTheNoiseOfAPerson) {
  const Options o{.algorithm = "newton", .epsilon = {1}, .delta = 1e-6};
  const auto row = newton::known_of(make_plan(o, of_persons(0))), four = newton::known_of(make_plan(o, of_persons(4)));
  ASSERT_TRUE(row && four);
  EXPECT_NEAR(newton::noise_to_signal(*four) / newton::noise_to_signal(*row), 4, 1e-4);
}

}  // namespace
}  // namespace parley::algorithm
