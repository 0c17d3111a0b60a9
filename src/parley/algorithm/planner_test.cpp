#include "parley/algorithm/planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parley/algorithm/catalog.h"
#include "parley/algorithm/schedule.h"
#include "parley/base/error.h"

namespace parley::algorithm {
namespace {

using ::testing::HasSubstr;

std::string chosen(Options o, bool trainer = false) {
  o.algorithm = auto_algorithm;
  const Selected s = select_algorithm(o, trainer);
  EXPECT_TRUE(s.by_planner());
  return s.algorithm;
}
constexpr bool star = true;

TEST(Planner, DeltaIsATenthOfOneRecordOfTheLargestPartyAndAtMostOneInAHundredThousand) {
  EXPECT_EQ(default_delta({500, 9000}), 1e-5);
  EXPECT_EQ(default_delta({10'000}), 1e-5);
  EXPECT_EQ(default_delta({10'001}), 9e-6);
  EXPECT_EQ(default_delta({100, 45'000, 7}), 2e-6);
  EXPECT_EQ(default_delta({1e6}), 1e-7);
  for (double records = 1; records < 1e9; records *= 1.37) {
    EXPECT_LE(default_delta({records}), 0.1 / records * (1 + 1e-12));
    EXPECT_GT(default_delta({records}), std::min(1e-5, 0.1 / records) / 2.01);
  }
}

TEST(Selection, WhatIsNamedIsTaken) {
  for (const std::string& name : algorithm_names()) {
    const Selected s = select_algorithm({.algorithm = name, .epsilon = {1}}, star);
    EXPECT_EQ(s.algorithm, name);
    EXPECT_FALSE(s.by_planner());
  }
  EXPECT_THROW(select_algorithm({.algorithm = "newtn"}, false), Error);
}

TEST(Selection, NewtonUnderABudget) {
  EXPECT_EQ(chosen({.epsilon = {1}}), "newton");
  EXPECT_EQ(chosen({.epsilon = {0.1, 1}, .delta = 1e-6}), "newton");
  for (const char* loss : {"logistic", "huber-hinge", "huber"})
    EXPECT_EQ(chosen({.loss = loss, .epsilon = {1}}), "newton");
  EXPECT_EQ(chosen({.regularizer = "l1", .epsilon = {1}}), "newton");
  EXPECT_EQ(chosen({.rounds = 10, .regularization = 0.1, .epsilon = {1}}), "newton");
}

TEST(Selection, ThePapersWhereNewtonCannot) {
  EXPECT_EQ(chosen({}), "mr-admm");
  EXPECT_EQ(chosen({.noise = "none"}), "mr-admm");
  EXPECT_EQ(chosen({.noise = "gaussian", .noise_scale = {1}}), "mr-admm");
  EXPECT_EQ(chosen({.epsilon = {1}, .delta = 0}), "mr-admm");
  EXPECT_EQ(chosen({.loss = "softmax", .epsilon = {1}}), "mr-admm");
  EXPECT_EQ(chosen({.loss = "hinge", .epsilon = {1}}), "linear-admm");
  EXPECT_EQ(chosen({.epsilon = {1}}, star), "star-pvp");
  EXPECT_EQ(chosen({.loss = "hinge", .epsilon = {1}}, star), "dp-admm");
  EXPECT_EQ(chosen({}, star), "star-pvp");
}

TEST(Selection, AnOptionGoesWithItsAlgorithm) {
  EXPECT_EQ(chosen({.clip = 0.5}), "newton");
  EXPECT_EQ(chosen({.curvature = "diagonal", .epsilon = {1}}), "newton");
  EXPECT_EQ(chosen({.loss = "softmax", .epsilon = {1}, .colluders = 1}), "newton");
  EXPECT_EQ(chosen({.curvature_share = 0.2, .epsilon = {1}}), "newton");
  EXPECT_EQ(chosen({.penalty = {2}, .epsilon = {1}}), "mr-admm");
  EXPECT_EQ(chosen({.penalty_growth = {1.1}, .epsilon = {1}}), "mr-admm");
  EXPECT_EQ(chosen({.damping = 1, .epsilon = {1}}), "mr-admm");
  EXPECT_EQ(chosen({.noise = "gamma", .epsilon = {1}}), "mr-admm");
  EXPECT_EQ(chosen({.noise_on = "output", .epsilon = {1}}), "mr-admm");
  EXPECT_EQ(chosen({.weighting = "equal", .epsilon = {1}}), "mr-admm");
  EXPECT_EQ(chosen({.epsilon = {1}, .tolerance = 1e-4}), "mr-admm");
  EXPECT_EQ(chosen({.step_size = "convex", .epsilon = {1}}), "linear-admm");
  EXPECT_EQ(chosen({.iteration_epsilon = 0.1}), "linear-admm");
  EXPECT_EQ(chosen({.iteration_epsilon = 0.1}, star), "dp-admm");
  EXPECT_EQ(chosen({.epsilon = {1}, .sensitivity = "paper"}), "star-pvp");
  EXPECT_THAT(select_algorithm({.penalty = {2}}, false).because, HasSubstr("--penalty"));
}

// All second moments of the first round of all parties fit into a record up to 100 million numbers, and into memory up to
// 3,000 features. Beyond, newton steps by the most entries of a row, which a schema alone makes public.
TEST(Selection, NewtonWhereSecondMomentsFitOrASchemaSaysHowManyEntriesARowHas) {
  const auto with = [](RowSize size) { return select_algorithm({.epsilon = {1}}, false, size).algorithm; };
  EXPECT_EQ(with({.features = 3000, .parties = 5}), "newton");
  EXPECT_EQ(with({.features = 3001, .parties = 5}), "mr-admm");
  EXPECT_EQ(with({.features = 1400, .parties = 100}), "newton");
  EXPECT_EQ(with({.features = 1420, .parties = 100}), "mr-admm");
  EXPECT_EQ(with({.features = 100'000, .entries = 13, .parties = 5}), "newton");
  EXPECT_EQ(select_algorithm({.curvature = "diagonal", .epsilon = {1}}, false, {.features = 100'000}).algorithm,
            "newton");
  EXPECT_THAT(select_algorithm({.epsilon = {1}}, false, {.features = 4000, .parties = 5}).because,
              HasSubstr("all second moments of 4000 features, and no schema"));
}

// Whatever is chosen can be planned: of each option that an algorithm refuses, another one is chosen.
TEST(Selection, WhatIsChosenCanBePlanned) {
  const Setting setting{.degree = {1, 1}, .records = {5000, 5000}, .features = 8, .classes = 3};
  std::vector<Options> all = {{},
                              {.epsilon = {1}},
                              {.rounds = 4, .epsilon = {1}},
                              {.regularizer = "elastic-net", .epsilon = {1}},
                              {.weighting = "equal", .epsilon = {1}},
                              {.weighting = "rows", .epsilon = {1}},
                              {.penalty = {5}, .epsilon = {1}},
                              {.dual_step = "penalty", .epsilon = {1}},
                              {.step_size = "smooth", .epsilon = {1}},
                              {.solution_bound = 3, .epsilon = {1}},
                              {.noise = "none"},
                              {.noise = "gamma", .epsilon = {1}},
                              {.noise_on = "gradient", .epsilon = {1}},
                              {.noise_on = "objective", .epsilon = {1}},
                              {.epsilon = {1}, .delta = 0},
                              {.epsilon = {1}, .diameter = "worst"},
                              {.epsilon = {1}, .diameter = "at-point"},
                              {.epsilon = {1}, .bound = "verified"},
                              {.epsilon = {1}, .average = "no"},
                              {.epsilon = {1}, .start = "random"},
                              {.epsilon = {1}, .tolerance = 1e-4},
                              {.iteration_epsilon = 0.1}};
  for (const char* loss : {"huber-hinge", "hinge", "huber", "softmax"}) all.push_back({.loss = loss, .epsilon = {1}});
  for (Options o : all) {
    o.algorithm = chosen(o);
    EXPECT_NO_THROW(make_plan(o, setting)) << o.algorithm << " " << o.noise.text << " " << o.loss.text;
  }
}

}  // namespace
}  // namespace parley::algorithm
