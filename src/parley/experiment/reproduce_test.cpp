#include "parley/experiment/reproduce.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "parley/base/message_test.h"
#include "parley/base/text.h"
#include "parley/experiment/charges.h"
#include "parley/experiment/outcome.h"
#include "parley/experiment/run_cell.h"

namespace parley::experiment {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

const std::string small = R"(
title = "A small comparison"
paper = "none"
figure = "none"
claim = "Less noise, lower loss."
notes = ["made up"]
repeats = 3

[options]
nodes = 4
rounds = 6
rows = 800
loss-weight = 100
graph = "complete"

[[series]]
name = "loud"
options = { algorithm = "r-admm", noise-rate = 0.05 }

[[series]]
name = "quiet"
options = { algorithm = "r-admm", noise-rate = 50 }

[[series]]
name = "dvp as quiet"
options = { algorithm = "dvp" }
match = { series = "quiet", by = "epsilon-paper" }

[[panel]]
name = "a"
title = "loss"

[[panel]]
name = "b"
title = "privacy"
y = "epsilon-paper"

[[judge]]
says = "less noise, lower loss"
rule = "lower"
of = ["quiet", "loud"]

[[judge]]
says = "more noise, lower loss"
rule = "lower"
of = ["loud", "quiet"]
)";

class Reproduce : public testing::Test {
 protected:
  Reproduce() {
    folder_ = std::filesystem::temp_directory_path() / ("parley-reproduce-" + std::to_string(getpid()));
    std::filesystem::remove_all(folder_);
  }
  ~Reproduce() override { std::filesystem::remove_all(folder_); }
  Request request(int threads = 1) const { return {.out = folder_, .data_dir = "", .threads = threads}; }

  std::filesystem::path folder_;
  Experiment experiment_ = parse(small, "small", "small.toml", false);
};

TEST_F(Reproduce, RunsJudgesAndWrites) {
  const auto results = reproduce({experiment_}, request(), {});
  ASSERT_EQ(results.size(), 1U);
  const json& r = results[0];
  EXPECT_EQ(r.at("verdict"), "holds in part");
  EXPECT_EQ(r.at("judgements")[0].at("finding"), "holds");
  EXPECT_EQ(r.at("judgements")[1].at("finding"), "does not hold") << "a false claim is judged false";
  for (const char* file : {"small-a.svg", "small-b.svg", "small.csv", "small.json"})
    EXPECT_TRUE(std::filesystem::exists(folder_ / file)) << file;
  const std::string csv = read_file(folder_ / "small.csv", "");
  EXPECT_THAT(csv, HasSubstr("panel,y,series,x_is,x,mean,low,high,runs,nodes,epsilon_proved,epsilon_as_printed,delta,"
                             "adjacency,not_private\n"));
  EXPECT_THAT(csv, HasSubstr("a,train-loss,quiet,round,6,"));
  const std::string page = index(results);
  EXPECT_THAT(page, HasSubstr("**Verdict: holds in part**"));
  EXPECT_THAT(page, HasSubstr("small-a.svg"));
  EXPECT_THAT(page, HasSubstr("NOT PRIVATE: noise from fixed seeds"));
}

TEST_F(Reproduce, EpsilonForRowsAsDealtIsMarked) {
  EXPECT_THAT(index(reproduce({experiment_}, request(), {})), Not(HasSubstr("as dealt")));
  std::string text = small;
  text.replace(text.find("[options]\n"), 10, "[options]\nsplit = \"label-skewed\"\n");
  const Experiment skewed = parse(text, "skewed", "skewed.toml", false);
  EXPECT_THAT(index(reproduce({skewed}, request(), {})), HasSubstr("- ε as dealt: one record of one node is replaced"));
  EXPECT_THAT(read_file(folder_ / "skewed.csv", ""), HasSubstr(",as dealt,noise from fixed seeds\n"));
  EXPECT_THAT(read_file(folder_ / "skewed-a.svg", ""),
              AllOf(HasSubstr("NOT PRIVATE: noise from fixed seeds"), HasSubstr("epsilon is for rows as dealt")));
}

TEST_F(Reproduce, NoiseIsMatchedToThePrintedLoss) {
  const auto results = reproduce({experiment_}, request(), {});
  const json& runs = results[0].at("runs");
  EXPECT_NEAR(runs[2].at("epsilon_paper").get<double>(), runs[1].at("epsilon_paper").get<double>(), 1e-6);
  EXPECT_LT(runs[2].at("noise_level").get<double>(), 50) << "every round touches data, so each must be noisier";
}

TEST_F(Reproduce, TheNumbersDoNotDependOnThreads) {
  auto one = reproduce({experiment_}, request(1), {});
  std::filesystem::remove_all(folder_);
  auto three = reproduce({experiment_}, request(3), {});
  for (auto* r : {&one[0], &three[0]}) {
    r->erase("seconds");
    for (json& run : r->at("runs")) run.erase("seconds");
  }
  EXPECT_EQ(one, three);
}

TEST_F(Reproduce, WhatIsFinishedStaysFinishedUnlessTheTextChanged) {
  reproduce({experiment_}, request(), {});
  int runs = 0, kept = 0;
  const Watch watch{.on_result = [&](const json&, bool was_stored) { ++(was_stored ? kept : runs); }};
  reproduce({experiment_}, request(), watch);
  EXPECT_EQ(kept, 1);
  Request again = request();
  again.fresh = true;
  reproduce({experiment_}, again, watch);
  EXPECT_EQ(runs, 1);
  Experiment other = parse(small + "# changed\n", "small", "small.toml", false);
  reproduce({other}, request(), watch);
  EXPECT_EQ(runs, 2);
  std::filesystem::remove(folder_ / "small-b.svg");
  reproduce({other}, request(), watch);
  EXPECT_EQ(runs, 3) << "a file is missing";
}

TEST_F(Reproduce, StoppedItKeepsWhatIsDone) {
  std::atomic<bool> stop{false};
  Experiment second = experiment_;
  second.name = "second";
  const Watch watch{.on_result = [&](const json&, bool) { stop = true; }, .stop = &stop};
  const auto results = reproduce({experiment_, second}, request(), watch);
  ASSERT_EQ(results.size(), 1U);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "small.json"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "second.json"));
}

TEST_F(Reproduce, AMistakeInARunNamesTheExperimentAndTheSeries) {
  const std::string text = [] {
    std::string t = small;
    return t.replace(t.find("noise-rate = 50"), 15, "damping-growth = 0.5");
  }();
  EXPECT_THAT(message_of([&] { reproduce({parse(text, "small", "small.toml", false)}, request(), {}); }),
              HasSubstr("small"));
}

// docs: accounting, golden table: eta = 1, V = 2, B = 8000, C = 1750, 25 private rounds at alpha = 1.
TEST(Charges, ByRoundTheyEndAtTheWholeRunsLoss) {
  algorithm::Options o;
  o.algorithm = "r-admm";
  o.rounds = 50;
  o.noise_rate = {1};
  const auto plan = algorithm::make_plan(o, {.degree = {2, 2, 2, 2, 2}, .records = std::vector<double>(5, 8000)});
  const Curve printed = epsilon_paper_so_far(plan), proved = epsilon_so_far(plan);
  ASSERT_EQ(printed.size(), 51U);
  EXPECT_EQ(printed[0], 0);
  EXPECT_NEAR(printed[1], 0.4753647379, 1e-9);
  EXPECT_EQ(printed[2], printed[1]) << "a recycled round is free";
  EXPECT_NEAR(printed[50], 11.88411845, 1e-7);
  EXPECT_DOUBLE_EQ(printed[50], *plan.epsilon_paper());
  EXPECT_DOUBLE_EQ(proved[50], plan.epsilon());
}

// HHCG20 section VI: 0.5009 and 1.0193 as printed, 0.2772 and 0.6339 exactly.
TEST(Charges, OfDpAdmmAreThePapersNumbers) {
  for (const auto& [iteration, printed, proved] :
       {std::tuple{0.05, 0.5008810771, 0.2771640467}, {0.1, 1.019291501, 0.6339064723}}) {
    algorithm::Options o;
    o.algorithm = "dp-admm";
    o.rounds = 100;
    o.loss_weight = 1;
    o.regularization = 0.17;
    o.penalty = {1};
    o.iteration_epsilon = iteration;
    o.iteration_delta = 1e-3;
    const auto plan = algorithm::make_plan(
        o, {.degree = std::vector<int>(100, 1), .records = std::vector<double>(100, 210), .features = 14});
    EXPECT_NEAR(epsilon_paper_so_far(plan).back(), printed, 1e-6);
    EXPECT_NEAR(epsilon_so_far(plan).back(), proved, 1e-6);
  }
}

}  // namespace
}  // namespace parley::experiment
