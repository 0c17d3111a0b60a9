#include "parley/run/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "parley/base/error.h"

namespace parley::run {
namespace {

using testing::HasSubstr;

struct Compare : testing::Test {
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("parley-compare-" + std::to_string(getpid()));
  std::atomic<bool> stop{false};
  int rounds = 0;
  ContestHooks hooks{.on_cell = [](std::size_t, const Simulation&) {},
                     .on_round = [this](std::size_t, int, const RoundMetrics&) { ++rounds; },
                     .stop = &stop};

  Contest contest(std::vector<std::string> algorithms, std::vector<double> budgets) const {
    Contest c{.algorithms = std::move(algorithms), .budgets = std::move(budgets), .out = folder.string()};
    c.common.data.rows = 2000;
    c.common.algorithm.loss_weight = 300;
    c.common.algorithm.rounds = 4;
    c.common.engine.repeat = 2;
    c.common.engine.seed = 1;
    return c;
  }
  ~Compare() override { std::filesystem::remove_all(folder); }
};

TEST_F(Compare, EveryCellKeepsItsBudgetAndIsTheRunThatTrainGives) {
  const Comparison all = compare(contest({"mr-admm", "dp-admm"}, {0.5, 2}), hooks);
  ASSERT_EQ(all.cells.size(), 4U);
  for (const Cell& c : all.cells) {
    EXPECT_EQ(c.runs, 2U);
    EXPECT_LE(c.epsilon, c.budget);
    EXPECT_GT(c.epsilon, 0.99 * c.budget);
    EXPECT_EQ(c.delta, 1e-5);
    EXPECT_LE(c.test_error->low, c.test_error->mean);
    EXPECT_LE(c.test_error->mean, c.test_error->high);
    EXPECT_GE(c.train_loss.low, all.train_loss_nonprivate);
  }
  EXPECT_EQ(all.not_private, std::vector<std::string>{"noise from seed 1"});
  TrainOptions alone = contest({}, {}).common;
  alone.algorithm.algorithm = "dp-admm";
  alone.algorithm.epsilon = {2};
  alone.engine.out = (folder / "alone").string();
  const Summary same = train(alone, {});
  EXPECT_DOUBLE_EQ((*same.runs[0].last().train_loss + *same.runs[1].last().train_loss) / 2,
                   all.cells[3].train_loss.mean);
}

TEST_F(Compare, AnAlgorithmThatCannotIsACellThatSaysWhyAndTheOthersRun) {
  Contest c = contest({"mr-admm", "dp-admm"}, {1});
  c.common.algorithm.loss = "hinge";  // no smooth minimum to perturb: only the linearised ones have a bound
  const Comparison all = compare(c, hooks);
  EXPECT_THAT(all.cells[0].refused, HasSubstr("hinge"));
  EXPECT_EQ(all.cells[0].runs, 0U);
  EXPECT_EQ(all.cells[1].runs, 2U);
  EXPECT_THAT(to_csv(all), HasSubstr("mr-admm,1,,,,,,,,,,,,,,,,,,\""));
  c.algorithms = {"mr-admm", "m-admm"};
  c.out += "-none";
  EXPECT_THROW(compare(c, hooks), Error);
}

TEST_F(Compare, EpsilonForRowsAsDealtIsMarkedInEveryFile) {
  Contest c = contest({"mr-admm"}, {1});
  for (const std::string split : {"even", "label-skewed"}) {
    c.common.data.split = split;
    c.out = (folder / split).string();
    const Comparison all = compare(c, hooks);
    const std::string word = split == "even" ? "replace-one" : "as dealt";
    EXPECT_EQ(to_json(all)["adjacency"], word);
    EXPECT_THAT(to_csv(all), HasSubstr("," + word + ",noise from seed 1,,parley\n"));
  }
}

TEST_F(Compare, WhatIsFinishedWhenItIsStoppedIsThere) {
  hooks.on_round = [&](std::size_t cell, int, const RoundMetrics&) { stop = cell == 1; };
  const Comparison all = compare(contest({"mr-admm"}, {0.5, 1, 2}), hooks);
  EXPECT_TRUE(all.interrupted);
  EXPECT_EQ(all.cells[0].runs, 2U);
  EXPECT_EQ(all.cells[1].runs + all.cells[2].runs, 0U);
  EXPECT_THAT(to_csv(all), HasSubstr("not run: interrupted"));
  EXPECT_EQ(to_json(all)["cells"].size(), 3U);
}

TEST_F(Compare, ARecordIsNeverOverwritten) {
  compare(contest({"mr-admm"}, {1}), hooks);
  EXPECT_THROW(compare(contest({"mr-admm"}, {1}), hooks), Error);
}

}  // namespace
}  // namespace parley::run
