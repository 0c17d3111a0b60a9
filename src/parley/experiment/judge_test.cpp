#include "parley/experiment/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace parley::experiment {
namespace {

using testing::HasSubstr;

// Runs of a cell that end in the given values; each run is a straight line from `start`.
Measured made_up(const std::string& series, std::vector<double> ends, double start = 1, bool noisy = true,
                 std::optional<double> value = std::nullopt, Metric metric = Metric::train_loss) {
  Measured m{.name = value ? series + " @ " + std::to_string(static_cast<int>(*value)) : series,
             .series = series,
             .legend = series,
             .value = value};
  m.facts.noisy = noisy;
  for (const double end : ends) {
    Curve curve;
    for (int t = 0; t <= 10; ++t) curve.push_back(start + (end - start) * t / 10);
    m.runs.push_back({{metric, curve}});
    m.outcomes.emplace_back("completed");
  }
  m.optimum[Metric::train_loss] = {0.5};
  return m;
}

Judgement ask(const std::string& rule, std::vector<std::string> of, const std::vector<Measured>& all, Judge more = {}) {
  more.says = "it is so";
  more.rule = rule;
  more.of = std::move(of);
  return decide(more, all);
}

Finding found(const std::string& rule, std::vector<std::string> of, const std::vector<Measured>& all, Judge more = {}) {
  return ask(rule, std::move(of), all, std::move(more)).finding;
}

TEST(Judge, LowerHoldsForATrueClaimAndFailsForAFalseOne) {
  const std::vector<Measured> all = {made_up("good", {0.50, 0.51, 0.49}), made_up("bad", {0.70, 0.71, 0.69})};
  const Judgement holds = ask("lower", {"good", "bad"}, all);
  EXPECT_EQ(holds.finding, Finding::holds);
  EXPECT_THAT(holds.measured, HasSubstr("good 0.5 (0.49 to 0.51)"));
  EXPECT_THAT(holds.measured, HasSubstr("[+0.2"));
  EXPECT_EQ(found("lower", {"bad", "good"}, all), Finding::fails);
}

TEST(Judge, ADifferenceWithinTwoStandardErrorsDecidesNothing) {
  const std::vector<Measured> all = {made_up("a", {0.4, 0.6, 0.5}), made_up("b", {0.6, 0.45, 0.5})};
  const Judgement j = ask("lower", {"a", "b"}, all);
  EXPECT_EQ(j.finding, Finding::undecided);
  EXPECT_THAT(j.measured, HasSubstr("not decided"));
}

TEST(Judge, RunsWithTheSameSeedsArePaired) {  // the seeds' own spread is ten times the difference
  const std::vector<Measured> all = {made_up("a", {0.1, 0.5, 0.9}), made_up("b", {0.15, 0.56, 0.94})};
  EXPECT_EQ(found("lower", {"a", "b"}, all), Finding::holds);
}

TEST(Judge, OneRandomRunDecidesNothingAndOneWithoutNoiseDoes) {
  EXPECT_EQ(found("lower", {"a", "b"}, {made_up("a", {0.1}), made_up("b", {0.9})}), Finding::undecided);
  EXPECT_EQ(found("lower", {"a", "b"}, {made_up("a", {0.1}, 1, false), made_up("b", {0.9}, 1, false)}), Finding::holds);
  EXPECT_EQ(found("falls", {"a"}, {made_up("a", {0.1})}), Finding::undecided);
}

TEST(Judge, ARunThatDivergedHoldsNothingAndIsNamed) {
  Measured lost = made_up("lost", {0.1, 0.2});
  lost.runs[1][Metric::train_loss].back() = nothing;
  lost.outcomes[1] = "diverged";
  const Judgement j = ask("lower", {"lost", "b"}, {lost, made_up("b", {0.9, 0.9})});
  EXPECT_EQ(j.finding, Finding::fails);
  EXPECT_THAT(j.measured, HasSubstr("1 of 2 runs diverged"));
}

TEST(Judge, SweptSeriesAreComparedAtEveryValue) {
  std::vector<Measured> all = {made_up("a", {0.1, 0.1}, 1, true, 1), made_up("a", {0.2, 0.2}, 1, true, 2),
                               made_up("b", {0.3, 0.3}, 1, true, 1), made_up("b", {0.4, 0.4}, 1, true, 2)};
  EXPECT_EQ(found("lower", {"a", "b"}, all), Finding::holds);
  all[1] = made_up("a", {0.5, 0.5}, 1, true, 2);
  const Judgement j = ask("lower", {"a", "b"}, all);
  EXPECT_EQ(j.finding, Finding::fails);
  EXPECT_THAT(j.measured, HasSubstr("at 2: 0.5, 0.4 [-0.1: no]"));
}

TEST(Judge, CloseIsWithinTheToleranceOfTheFirst) {
  const std::vector<Measured> all = {made_up("a", {0.50}), made_up("b", {0.54})};
  EXPECT_EQ(found("close", {"a", "b"}, all, {.tolerance = 0.05}), Finding::holds);
  EXPECT_EQ(found("close", {"a", "b"}, all, {.tolerance = 0.03}), Finding::fails);
}

TEST(Judge, FallsAndRisesAlongASweepAndOverRounds) {
  const std::vector<Measured> all = {made_up("a", {0.9, 0.9}, 1, true, 1), made_up("a", {0.2, 0.2}, 1, true, 2)};
  EXPECT_EQ(found("falls", {"a"}, all), Finding::holds);
  EXPECT_EQ(found("rises", {"a"}, all), Finding::fails);
  EXPECT_EQ(found("falls", {"b"}, {made_up("b", {0.2, 0.3}, 1)}), Finding::holds);
  EXPECT_EQ(found("falls", {"b"}, {made_up("b", {1.2, 1.3}, 1)}), Finding::fails);
}

TEST(Judge, LowestLooksForTheSmallestAlongTheSweep) {
  const std::vector<Measured> all = {made_up("a", {0.9}, 1, false, 1), made_up("a", {0.2}, 1, false, 2),
                                     made_up("a", {0.5}, 1, false, 3)};
  EXPECT_EQ(found("lowest", {"a"}, all, {.low = 2, .high = 2}), Finding::holds);
  EXPECT_EQ(found("lowest", {"a"}, all, {.low = 3, .high = 9}), Finding::fails);
  EXPECT_EQ(found("lowest", {"a"}, all, {.tolerance = 0.4, .low = 3, .high = 9}), Finding::holds);
}

TEST(Judge, GainComparesTwoDifferences) {
  const std::vector<Measured> all = {made_up("a", {0.9, 0.91}), made_up("b", {0.5, 0.51}), made_up("c", {0.4, 0.41}),
                                     made_up("d", {0.3, 0.31})};
  EXPECT_EQ(found("gain", {"a", "b", "c", "d"}, all), Finding::holds);
  EXPECT_EQ(found("gain", {"c", "d", "a", "b"}, all), Finding::fails);
}

TEST(Judge, SteadierLooksAtTheRangeOverRuns) {
  const std::vector<Measured> all = {made_up("a", {0.5, 0.6}), made_up("b", {0.3, 0.8})};
  EXPECT_EQ(found("steadier", {"a", "b"}, all), Finding::holds);
  EXPECT_EQ(found("steadier", {"b", "a"}, all), Finding::fails);
}

TEST(Judge, SmootherLooksAtTheChangeFromRoundToRound) {
  Measured calm = made_up("calm", {0.5}, 0.5), wild = calm;
  wild.name = wild.series = wild.legend = "wild";
  for (std::size_t t = 0; t <= 10; t += 2) wild.runs[0][Metric::train_loss][t] += 0.3;
  EXPECT_EQ(found("smoother", {"calm", "wild"}, {calm, wild}), Finding::holds);
  EXPECT_EQ(found("smoother", {"wild", "calm"}, {calm, wild}), Finding::fails);
}

TEST(Judge, ReachesAndMissesAreAboutTheOptimum) {
  const std::vector<Measured> all = {made_up("a", {0.505})};  // the optimum has 0.5
  EXPECT_EQ(found("reaches", {"a"}, all, {.tolerance = 0.02}), Finding::holds);
  EXPECT_EQ(found("reaches", {"a"}, all, {.tolerance = 0.005}), Finding::fails);
  EXPECT_EQ(found("misses", {"a"}, all, {.tolerance = 0.005}), Finding::holds);
  const std::vector<Measured> far = {made_up("f", {0.2}, 1, false, std::nullopt, Metric::distance)};
  EXPECT_EQ(found("reaches", {"f"}, far, {.y = Metric::distance, .tolerance = 0.1}), Finding::fails);
  EXPECT_EQ(found("misses", {"f"}, far, {.y = Metric::distance, .tolerance = 0.1}), Finding::holds);
}

TEST(Judge, RatioAndBelow) {
  const std::vector<Measured> all = {made_up("a", {0.6}), made_up("b", {0.3})};
  EXPECT_EQ(found("ratio", {"a", "b"}, all, {.low = 1.9, .high = 2.1}), Finding::holds);
  EXPECT_EQ(found("ratio", {"a", "b"}, all, {.low = 3, .high = 4}), Finding::fails);
  EXPECT_EQ(found("below", {"a"}, all, {.tolerance = 0.7}), Finding::holds);
  EXPECT_EQ(found("below", {"a"}, all, {.tolerance = 0.5}), Finding::fails);
}

TEST(Judge, AtARoundAndOnAverage) {
  const std::vector<Measured> all = {made_up("a", {0}, 1, false), made_up("b", {0.5}, 0, false)};  // they cross
  EXPECT_EQ(found("lower", {"a", "b"}, all), Finding::holds);
  EXPECT_EQ(found("lower", {"b", "a"}, all, {.at = "1"}), Finding::holds);
  EXPECT_EQ(found("lower", {"b", "a"}, all, {.at = "mean"}), Finding::holds);
}

TEST(Verdict, FollowsFromThePartsOfTheClaimAlone) {
  const auto of = [](std::vector<Finding> findings) {
    std::vector<Judgement> all;
    for (const Finding f : findings) all.push_back({.finding = f});
    all.push_back({.finding = Finding::fails, .claim = false});
    return verdict(all);
  };
  EXPECT_EQ(of({Finding::holds, Finding::holds}), "holds");
  EXPECT_EQ(of({Finding::fails}), "does not hold");
  EXPECT_EQ(of({Finding::holds, Finding::fails}), "holds in part");
  EXPECT_EQ(of({Finding::holds, Finding::undecided}), "holds in part");
  EXPECT_EQ(of({Finding::undecided}), "undecided");
  EXPECT_EQ(of({Finding::undecided, Finding::fails}), "does not hold");
}

}  // namespace
}  // namespace parley::experiment
