// Every refusal of a plan says what is wrong, where, and what to do: one row for each rule between options.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parley/algorithm/schedule.h"
#include "parley/base/error.h"

namespace parley::algorithm {
namespace {

using ::testing::HasSubstr;

Setting five_nodes() {
  return {.degree = std::vector<int>(5, 2), .records = std::vector<double>(5, 8000), .features = 10, .classes = 3};
}

struct Refusal {
  Options options;
  std::string where, what, fix;
};

void expect_refused(const Refusal& r, const Setting& setting = five_nodes()) {
  try {
    make_plan(r.options, setting);
    ADD_FAILURE() << "not refused: " << r.what;
  } catch (const Error& e) {
    EXPECT_THAT(std::string(e.what()), HasSubstr("option --" + r.where));
    EXPECT_THAT(std::string(e.what()), HasSubstr(r.what));
    EXPECT_THAT(std::string(e.what()), HasSubstr(r.fix));
  }
}

TEST(Rules, OneValueOrOnePerNode) {
  const std::string what = " has 2 values for 5 nodes", fix = "per node";
  for (const Refusal& r : std::vector<Refusal>{
           {{.algorithm = "mr-admm", .penalty = {1, 2}}, "penalty", "penalty" + what, fix},
           {{.algorithm = "mr-admm", .penalty_growth = {1, 1.1}}, "penalty-growth", "penalty-growth" + what, fix},
           {{.algorithm = "mr-admm", .dual_step = "1,2"}, "dual-step", "dual-step" + what, fix},
           {{.algorithm = "mr-admm", .noise_rate = {1, 2}}, "noise-rate", "noise-rate" + what, fix},
           {{.algorithm = "mr-admm", .noise_rate_growth = {1, 2}},
            "noise-rate-growth",
            "noise-rate-growth" + what,
            fix},
           {{.algorithm = "mr-admm", .noise = "gaussian", .noise_scale = {1, 2}},
            "noise-scale",
            "noise-scale" + what,
            fix},
           {{.algorithm = "mr-admm", .epsilon = {1, 2}}, "epsilon", "epsilon" + what, fix},
           {{.algorithm = "dp-admm", .step_size = "1,2", .noise = "none"}, "step-size", "one step size", "one number"}})
    expect_refused(r);
}

TEST(Rules, WhichLossAndRegularizerMayStandWhere) {
  for (const char* algorithm : {"admm", "dvp", "pvp", "pp", "m-admm", "r-admm", "mr-admm", "star-admm"})
    expect_refused({{.algorithm = algorithm, .loss = "hinge"}, "loss", "plain hinge has a kink", "huber-hinge"});
  expect_refused({{.algorithm = "star-pvp", .loss = "hinge", .epsilon = {1}}, "loss", "star-pvp minimises", "dp-admm"});
  for (const char* algorithm : {"dvp", "m-admm", "r-admm", "mr-admm"}) {
    expect_refused({{.algorithm = algorithm, .loss = "softmax", .noise = "gamma", .noise_on = "objective"},
                    "loss",
                    "losses of one score",
                    "--noise-on output"});
    for (const char* regularizer : {"l1", "elastic-net"})
      expect_refused({{.algorithm = algorithm, .regularizer = regularizer, .noise = "gamma", .noise_on = "objective"},
                      "regularizer",
                      "many noises give the same minimum",
                      "--noise-on output"});
  }
  expect_refused({{.algorithm = "pp", .loss = "softmax"}, "noise-on", "penalty term", "m-admm"});
  expect_refused({{.algorithm = "pp", .regularizer = "l1"}, "noise-on", "penalty term", "m-admm"});
  expect_refused({{.algorithm = "mr-admm", .loss = "huber", .loss_width = 3},
                  "loss-width",
                  "clipped at loss-width",
                  "in that range"});
  expect_refused({{.algorithm = "pp", .loss = "huber-hinge", .epsilon = {1}}, "loss", "logistic loss only", "gamma"});
  // Nothing is refused where the noise stands on the output or on the gradient, or there is none.
  for (const char* loss : {"softmax", "huber", "huber-hinge"})
    for (const char* regularizer : {"l1", "elastic-net", "l2"})
      for (const char* algorithm : {"pvp", "mr-admm", "star-pvp", "dp-admm", "linear-admm"}) {
        EXPECT_NO_THROW(make_plan({.algorithm = algorithm, .loss = loss, .regularizer = regularizer, .epsilon = {1}},
                                  five_nodes()));
        EXPECT_NO_THROW(make_plan({.algorithm = algorithm, .loss = loss, .regularizer = regularizer, .noise = "none"},
                                  five_nodes()));
      }
}

TEST(Rules, StepSizesBelongToLinearisedUpdates) {
  expect_refused(
      {{.algorithm = "star-pvp", .step_size = "convex", .noise = "none"}, "step-size", "no proximal step", ""});
  expect_refused({{.algorithm = "mr-admm", .solution_bound = 3}, "solution-bound", "no proximal step", "linear-admm"});
  const std::string what = "Theorem 4 asks for a loss and a regulariser that are twice differentiable";
  for (const char* algorithm : {"dp-admm", "linear-admm"}) {
    Options o{.algorithm = algorithm, .step_size = "smooth", .noise = "none"};
    o.loss = "hinge";
    expect_refused({o, "step-size", what, "convex"});
    o.loss = "logistic";
    o.regularizer = "l1";
    expect_refused({o, "step-size", what, "convex"});
    o.regularizer = "elastic-net";
    expect_refused({o, "step-size", what, "convex"});
  }
  Setting unknown = five_nodes();
  unknown.features = 0;
  expect_refused({{.algorithm = "dp-admm", .regularizer = "l1", .noise = "none"},
                  "step-size",
                  "depends on the number of features",
                  "--features"},
                 unknown);
}

TEST(Rules, AStarHasOnePenaltyAndStartsAtZero) {
  for (const char* algorithm : {"star-admm", "star-pvp", "dp-admm"}) {
    Options o{.algorithm = algorithm, .noise = "none"};
    o.penalty = {1, 1, 1, 1, 2};
    expect_refused({o, "penalty", "a star has one penalty", "leave --dual-step out"});
    o.penalty = {1};
    o.dual_step = "penalty";
    expect_refused({o, "dual-step", "a star has one penalty", "leave --dual-step out"});
    o.dual_step = "common";
    o.start = "random";
    expect_refused({o, "start", "starts at zero", "leave it out"});
    o.start = "zero";
    o.penalty_growth = {1.1};
    expect_refused({o, "penalty-growth", "has a fixed penalty", "m-admm"});
  }
}

TEST(Rules, TheNoiseStandsWhereTheAlgorithmHasIt) {
  for (const char* algorithm : {"dp-admm", "linear-admm"})
    for (const char* place : {"output", "objective"})
      expect_refused({{.algorithm = algorithm, .noise_on = place, .epsilon = {1}},
                      "noise-on",
                      "has its noise on the gradient",
                      "leave it out"});
  expect_refused({{.algorithm = "mr-admm", .noise_on = "gradient"},
                  "noise-on",
                  "has no gradient to put noise on",
                  "leave it out"});
  expect_refused({{.algorithm = "pvp", .noise_on = "objective"}, "noise-on", "on the output by definition", "dvp"});
  expect_refused({{.algorithm = "star-pvp", .noise_on = "objective", .epsilon = {1}},
                  "noise-on",
                  "on the output by definition",
                  "leave it out"});
  expect_refused({{.algorithm = "pp", .noise_on = "output"}, "noise-on", "into the penalty term", "m-admm"});
  expect_refused(
      {{.algorithm = "star-pvp", .epsilon = {1}, .diameter = "at-point"}, "diameter", "releases no gradient", ""});
  for (const char* loss : {"hinge", "softmax", "huber-hinge"})
    expect_refused({{.algorithm = "dp-admm", .loss = loss, .epsilon = {1}, .diameter = "at-point"},
                    "diameter",
                    "proved for the logistic loss",
                    "leave it out"});
  for (const char* algorithm : {"dp-admm", "linear-admm", "pvp", "star-admm"})
    expect_refused({{.algorithm = algorithm, .noise = "none", .sensitivity = "paper"},
                    "sensitivity",
                    "the paper's sensitivity is star-pvp's",
                    "star-pvp"});
}

TEST(Rules, TheNoiseIsGivenInOneWay) {
  const std::string both = "a budget and the noise itself are both given", alone = "and alone";
  for (const Refusal& r : std::vector<Refusal>{
           {{.algorithm = "mr-admm", .noise = "none", .epsilon = {1}}, "epsilon", both, "the noise follows"},
           {{.algorithm = "mr-admm", .noise_rate = {1}, .epsilon = {1}}, "epsilon", both, "the noise follows"},
           {{.algorithm = "mr-admm", .noise_scale = {1}, .epsilon = {1}}, "epsilon", both, "the noise follows"},
           {{.algorithm = "mr-admm", .noise_rate_growth = {1.1}, .epsilon = {1}},
            "noise-rate-growth",
            "the same in all rounds",
            "leave"},
           {{.algorithm = "mr-admm", .noise = "gaussian", .noise_rate_growth = {1.1}, .noise_scale = {1}},
            "noise-rate-growth",
            "the same in all rounds",
            "leave"},
           {{.algorithm = "mr-admm", .noise = "gaussian"}, "noise gaussian", "needs its size", "--epsilon"},
           {{.algorithm = "dp-admm"}, "noise gaussian", "needs its size", "--epsilon"},
           {{.algorithm = "star-pvp"}, "noise gaussian", "needs its size", "--epsilon"},
           {{.algorithm = "mr-admm", .noise = "gaussian", .noise_rate = {1}, .noise_scale = {1}},
            "noise-rate",
            "belongs to gamma",
            "scale"},
           {{.algorithm = "mr-admm", .noise = "gamma", .noise_scale = {1}},
            "noise-scale",
            "belongs to Gaussian",
            "rate"},
           {{.algorithm = "mr-admm", .noise = "gaussian", .epsilon = {1}, .delta = 0},
            "delta",
            "no guarantee with delta = 0",
            "gamma"},
           {{.algorithm = "mr-admm", .epsilon = {1}, .iteration_epsilon = 0.1},
            "iteration-epsilon",
            alone,
            "--epsilon"},
           {{.algorithm = "dp-admm", .epsilon = {1}, .iteration_epsilon = 0.1},
            "iteration-epsilon",
            alone,
            "--epsilon"},
           {{.algorithm = "dp-admm", .noise = "gamma", .iteration_epsilon = 0.1}, "iteration-epsilon", alone, ""},
           {{.algorithm = "dp-admm", .noise = "none", .iteration_epsilon = 0.1}, "iteration-epsilon", alone, ""},
           {{.algorithm = "dp-admm", .noise_scale = {1}, .iteration_epsilon = 0.1}, "iteration-epsilon", alone, ""},
           {{.algorithm = "mr-admm", .iteration_epsilon = 0.1}, "iteration-epsilon", alone, "--epsilon"},
           {{.algorithm = "dp-admm", .epsilon = {1}, .iteration_delta = 1e-3}, "iteration-delta", "goes with", "both"}})
    expect_refused(r);
}

TEST(Rules, PenaltiesGrowOnlyWhereTheyMay) {
  for (const char* algorithm : {"admm", "dvp", "pvp"})
    expect_refused({{.algorithm = algorithm, .penalty_growth = {1.1}}, "penalty-growth", "fixed penalty", "m-admm"});
  expect_refused({{.algorithm = "r-admm", .penalty_growth = {1.1}}, "penalty-growth", "fixed penalty", "mr-admm"});
  expect_refused({{.algorithm = "linear-admm", .penalty_growth = {1.1}, .noise = "none"},
                  "penalty-growth",
                  "fixed penalty",
                  "m-admm"});
  expect_refused({{.algorithm = "mr-admm", .rounds = 300, .penalty_growth = {1.3}},
                  "penalty-growth",
                  "could not be certified",
                  "--penalty-growth-rounds"});
}

TEST(Rules, ABudgetThatNoNoiseKeepsIsInfeasible) {
  Setting few = five_nodes();
  few.records = std::vector<double>(5, 3);
  expect_refused({{.algorithm = "mr-admm", .loss_weight = 1000, .penalty = {1e-3}, .epsilon = {0.01}},
                  "epsilon",
                  "infeasible",
                  "raise --epsilon"},
                 few);
}

TEST(Rules, AnUnknownAlgorithmNamesTheNearest) {
  expect_refused({{.algorithm = "dpadmm"}, "algorithm", "unknown algorithm", "did you mean 'dp-admm'?"});
}

// With l1 HHCG20's sensitivity 2GN/(m lambda) is too small once lambda/N > rho: the proved one takes its place.
TEST(Rules, ThePapersSensitivityNeverBreaksABudget) {
  for (const char* regularizer : {"l2", "l1", "elastic-net"}) {
    const Plan plan = make_plan({.algorithm = "star-pvp",
                                 .regularization = 100,
                                 .regularizer = regularizer,
                                 .penalty = {1},
                                 .epsilon = {1},
                                 .sensitivity = "paper"},
                                {.degree = {1, 1, 1, 1, 1}, .records = std::vector<double>(5, 1000), .features = 3});
    EXPECT_LE(plan.epsilon(), 1) << regularizer;
    EXPECT_GT(plan.epsilon(), 0) << regularizer;
  }
}

}  // namespace
}  // namespace parley::algorithm
