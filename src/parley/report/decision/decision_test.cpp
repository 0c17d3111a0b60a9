// The first screen by itself: odds, light, best choice.
#include "parley/report/decision/decision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "parley/report/decision/light.h"
#include "parley/report/decision/odds.h"

namespace parley::report {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Φ(μ/2) for the μ with δ_μ(ε) = δ, by 200 bisections of Balle and Wang's formula in Python's math.erfc.
TEST(Odds, OfGaussianNoiseAreThoseOfItsTradeOffCurveRoundedUp) {
  const struct {
    double epsilon, delta, right;
    const char* text;
  } golden[] = {{0.5, 1e-5, 0.5283430167464024, "52.9 %"}, {1, 1e-5, 0.5533088192260505, "55.4 %"},
                {1, 1e-6, 0.5471056969812839, "54.8 %"},   {2, 1e-5, 0.5990062909256348, "60.0 %"},
                {3, 1e-5, 0.6404114199513026, "64.1 %"},   {10, 1e-5, 0.8413986536115287, "84.2 %"}};
  for (const auto& g : golden) {
    const double right = best_guess(g.epsilon, g.delta, TradeOff::gaussian);
    EXPECT_NEAR(right, g.right, 1e-9) << g.epsilon;
    EXPECT_GE(right, g.right) << g.epsilon;
    EXPECT_EQ(guess_text(right), g.text);
  }
}

TEST(Odds, WithoutACurveTheyAreWhatEpsilonAndDeltaAllow) {
  const double e = std::exp(1.0);
  EXPECT_NEAR(best_guess(1, 0, TradeOff::any), e / (1 + e), 1e-12);
  EXPECT_GE(best_guess(1, 0, TradeOff::any), e / (1 + e));
  EXPECT_EQ(guess_text(best_guess(1, 0, TradeOff::any)), "73.2 %");
  EXPECT_NEAR(best_guess(1, 0.1, TradeOff::any), (e + 0.1) / (1 + e), 1e-12);
  EXPECT_EQ(guess_text(best_guess(0, 0, TradeOff::any)), "50.0 %");
  EXPECT_EQ(guess_text(best_guess(1, 0, TradeOff::gaussian)), "73.2 %") << "Gaussian noise has no claim at delta 0";
  EXPECT_EQ(best_guess(1000, 1e-5, TradeOff::any), 1);
  EXPECT_LE(best_guess(1000, 1e-5, TradeOff::gaussian), 1);
}

// Φ(√k μ/2), μ = 0.26804 for ε = 1 and δ = 1e-5; of pure ε = 1 three times e³/(1 + e³).
TEST(Odds, OfSeveralRunsTogetherAreThoseOfTheirSum) {
  const std::vector<Claim> two(2, {1, 1e-5, TradeOff::gaussian}), ten(10, two[0]);
  EXPECT_EQ(guess_text(best_guess(std::vector<Claim>{two[0]})), "55.4 %");
  EXPECT_EQ(guess_text(best_guess(two)), "57.6 %");
  EXPECT_EQ(guess_text(best_guess(ten)), "66.5 %");
  const double e3 = std::exp(3.0);
  EXPECT_NEAR(best_guess(std::vector<Claim>(3, {1, 0, TradeOff::any})), e3 / (1 + e3), 1e-12);
  EXPECT_NEAR(best_guess({{1, 1e-5, TradeOff::gaussian}, {2, 0, TradeOff::any}}), (e3 + 1e-5) / (1 + e3), 1e-12);
  EXPECT_EQ(best_guess({{1, 0.6, TradeOff::any}, {1, 0.6, TradeOff::any}}), 1);
  EXPECT_EQ(best_guess({{1, 1e-5, TradeOff::gaussian}, {std::nan(""), 1e-5, TradeOff::gaussian}}), 1);
}

TEST(Odds, OfWhatIsNoClaimAreCertainty) {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -1.0}) {
    EXPECT_EQ(best_guess(bad, 1e-5, TradeOff::gaussian), 1);
    EXPECT_EQ(best_guess(1, bad, TradeOff::gaussian), 1);
  }
}

TEST(Light, ChangesAboveOneAndAboveThreeAsPrinted) {
  EXPECT_EQ(verdict_on(1, true).light, Light::green);
  EXPECT_EQ(verdict_on(std::nextafter(1.0, 2), true).light, Light::amber) << "it is printed as 1.0001";
  EXPECT_EQ(verdict_on(3, true).light, Light::amber);
  EXPECT_EQ(verdict_on(3.00001, true).light, Light::red);
  EXPECT_THAT(verdict_on(10.1, true).sentence, HasSubstr("no meaningful protection"));
  for (const double none : {0.1, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const Verdict v = verdict_on(none, std::isfinite(none) ? false : true);
    EXPECT_EQ(v.light, Light::red);
    EXPECT_EQ(v.word, "NOT PRIVATE");
  }
}

TEST(Light, IsRedWhereDeltaAllowsARecordToBePublished) {
  EXPECT_EQ(verdict_on(0.5, true, true).light, Light::red);
  EXPECT_THAT(verdict_on(0.5, true, true).sentence, HasSubstr("publishing a record outright would be allowed"));
}

TEST(Light, IsToldByWordAndShapeToo) {
  EXPECT_EQ(verdict_on(1, true).word, "GREEN");
  EXPECT_EQ(verdict_on(2, true).word, "AMBER");
  EXPECT_EQ(verdict_on(4, true).word, "RED");
  EXPECT_THAT(sign_of(Light::green), AllOf(HasSubstr("circle"), Not(HasSubstr("Z"))));
  EXPECT_NE(sign_of(Light::amber), sign_of(Light::red));
}

Group setting(const std::string& name, double epsilon, const std::vector<double>& errors) {
  Group g{.name = name};
  for (const double error : errors) {
    Run run{.outcome = "completed"};
    run.guarantee = {.holds = true, .epsilon = epsilon, .delta = 1e-5};
    run.metrics.test_error = error;
    run.metrics.test_error_guessing = 0.24;
    g.runs.push_back(run);
  }
  return g;
}

// With weights the test error rewards whoever finds no record of the rare class.
TEST(BestChoice, IsByTheBalancedErrorWhereClassesHaveWeights) {
  std::vector<Group> groups = {setting("says no", 1, {0.11, 0.11}), setting("newton", 1, {0.20, 0.21})};
  const auto with = [&](Group& g, double balanced, const std::string& weights) {
    for (auto& run : g.runs) {
      run.metrics.balanced_error = balanced;
      run.metrics.balanced_error_guessing = 0.5;
      run.options["class-weight"] = weights;
    }
  };
  with(groups[0], 0.5, "1,4");
  with(groups[1], 0.24, "1,4");
  EXPECT_THAT(best_choices(groups).at(0),
              testing::StartsWith("At ε = 1.0000, by the balanced error: newton (24.00 %)"));
  with(groups[0], 0.5, "none");
  with(groups[1], 0.24, "none");
  EXPECT_THAT(best_choices(groups).at(0), testing::StartsWith("At ε = 1.0000: says no"));
}

TEST(BestChoice, IsNamedAtEachEpsilonOnlyWhereItIsBeyondScatter) {
  const std::vector<Group> groups = {setting("dvp", 1, {0.20, 0.21, 0.19}),
                                     setting("newton", 1, {0.150, 0.151, 0.149}),
                                     setting("dvp", 4, {0.15, 0.16, 0.14}),
                                     setting("newton", 4, {0.149, 0.161, 0.143}),
                                     setting("dvp", 8, {0.15}),
                                     setting("newton", 8, {0.14}),
                                     setting("alone", 9, {0.1, 0.1})};
  EXPECT_THAT(
      best_choices(groups),
      ElementsAre(AllOf(HasSubstr("At ε = 1.0000: newton (15.00 %) is best"), HasSubstr("next is dvp (20.00 %)")),
                  AllOf(HasSubstr("At ε = 4.0000: no choice is clearly best"), HasSubstr("within")),
                  AllOf(HasSubstr("newton (14.00 %, one run) has the lowest error"), HasSubstr("repeat the runs"))));
}

// One run that is no better than guessing is enough: a mean of errors is no test.
TEST(Guessing, OfSeveralRunsTheVerdictCountsThem) {
  Group g = setting("newton", 1, {0.20, 0.21, 0.22});
  for (auto& run : g.runs) run.metrics.no_better = false;
  EXPECT_EQ(against_guessing(g)->value, "BETTER in 3 of 3");
  EXPECT_EQ(against_guessing(g)->light, Light::green);
  for (const std::size_t wrong : {1U, 2U}) {
    g.runs[wrong].metrics.no_better = true;
    EXPECT_EQ(against_guessing(g)->value, "NO BETTER in " + std::to_string(wrong) + " of 3");
    EXPECT_EQ(against_guessing(g)->light, Light::red);
  }
  g.runs[0].metrics.no_better.reset();  // an older record
  EXPECT_EQ(against_guessing(g)->value, "3.0 points better");
  EXPECT_FALSE(against_guessing(g)->light);
}

TEST(BestChoice, SaysWhenGuessingIsAsGood) {
  EXPECT_THAT(best_choices({setting("a", 1, {0.3, 0.31}), setting("b", 1, {0.4, 0.41})}),
              ElementsAre(HasSubstr("None is better than always guessing (24.00 %)")));
  EXPECT_THAT(best_choices({setting("a", 1, {}), setting("b", 1, {0.4, 0.41})}), ElementsAre());
}

}  // namespace
}  // namespace parley::report
