#include "parley/algorithm/newton/forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "parley/algorithm/newton/newton_plan.h"
#include "parley/privacy/gaussian.h"

namespace parley::algorithm::newton {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Known five_parties(double epsilon = 1) {
  return {.epsilon = std::vector<double>(5, epsilon),
          .delta = 1e-5,
          .weights = 62,
          .records = 45000,
          .colluders = 4,
          .fewest_colluders = 4};
}

TEST(NewtonForecast, GrowsWithTheNoiseAndEndsAtGuessing) {
  double before = -1;
  for (double nu = 0; nu < 1.2; nu += 0.01) {
    const Forecast f = forecast(nu);
    EXPECT_EQ(f.guessing, nu >= 0.3);
    EXPECT_GT(f.points, before);
    EXPECT_LE(f.low, f.points);
    EXPECT_GE(f.high, f.points);
    before = f.points;
  }
  EXPECT_NEAR(forecast(0.04).points, 1.525, 1e-12);
  EXPECT_EQ(forecast(100).points, forecast(1.2).points);
}

// F d/(n μ), F = √N for noise of each party's own and √(N/(N − c)) for noise that cancels.
TEST(NewtonForecast, NoiseToSignal) {
  const double mu = privacy::gdp_mu(1, 1e-5);
  Known k = five_parties();
  EXPECT_NEAR(noise_to_signal(k), std::sqrt(5) * 62 / (45000 * mu), 1e-12);
  k.colluders = 1;
  EXPECT_NEAR(noise_to_signal(k), std::sqrt(5. / 4) * 62 / (45000 * mu), 1e-12);
  k.epsilon[0] = INFINITY;  // a party without noise adds none
  EXPECT_NEAR(noise_to_signal(k), std::sqrt(4. / 4) * 62 / (45000 * mu), 1e-12);
}

TEST(NewtonForecast, OfAPlan) {
  const Setting setting{.degree = {1, 1, 1, 1}, .records = {100, 200, 300, 400}, .features = 6};
  Options o{.algorithm = "newton", .epsilon = {1}};
  const auto known = known_of(algorithm::make_plan(o, setting));
  ASSERT_TRUE(known);
  EXPECT_NEAR(noise_to_signal(*known), 2 * 6 / (1000 * privacy::gdp_mu(1, 1e-5)), 1e-9);
  o.epsilon.clear();
  o.noise = "none";
  EXPECT_FALSE(known_of(algorithm::make_plan(o, setting)));
  for (const char* other : {"mr-admm", "dp-gd"})
    EXPECT_FALSE(known_of(algorithm::make_plan({.algorithm = other, .epsilon = {1}}, setting)));
  for (const char* loss : {"softmax", "huber"})
    EXPECT_FALSE(known_of(algorithm::make_plan({.algorithm = "newton", .loss = loss, .epsilon = {1}}, setting)));
}

// With 1, 4 and 8 rounds two to four times as much was lost as a table of 32 says (20 parties, census); with 16 and 64 not.
TEST(NewtonForecast, NoneOfFewRoundsAndOfIntervals) {
  const Setting setting{.degree = {1, 1}, .records = {1e4, 1e4}, .features = 60};
  const auto plan = [&](long rounds, bool intervals) {
    return algorithm::make_plan({.algorithm = "newton", .rounds = rounds, .epsilon = {1}, .intervals = intervals},
                                setting);
  };
  for (const long rounds : {0, 16, 32, 64}) EXPECT_TRUE(known_of(plan(rounds, false))) << rounds;
  for (const long rounds : {1, 8, 15}) EXPECT_FALSE(known_of(plan(rounds, false))) << rounds;
  EXPECT_THAT(why_no_forecast(plan(1, false)), HasSubstr("made for 32 rounds, and here are 1"));
  EXPECT_FALSE(known_of(plan(0, true)));
  EXPECT_THAT(why_no_forecast(plan(0, true)), HasSubstr("none was made for --intervals"));
}

// It is a table of tasks with full curvature, compared with tasks of up to 300 features.
TEST(NewtonForecast, NoneOfADiagonalOrOfManyFeatures) {
  Setting setting{.degree = {1, 1}, .records = {1e6, 1e6}, .features = 300};
  Options o{.algorithm = "newton", .epsilon = {1}};
  EXPECT_TRUE(known_of(algorithm::make_plan(o, setting)));
  EXPECT_EQ(why_no_forecast(algorithm::make_plan(o, setting)), "");
  setting.features = 301;
  EXPECT_FALSE(known_of(algorithm::make_plan(o, setting)));
  EXPECT_THAT(why_no_forecast(algorithm::make_plan(o, setting)), HasSubstr("up to 300 features, and here are 301"));
  setting.features = 6;
  o.curvature = "diagonal";
  EXPECT_FALSE(known_of(algorithm::make_plan(o, setting)));
  EXPECT_THAT(why_no_forecast(algorithm::make_plan(o, setting)), HasSubstr("none was made for the diagonal"));
  EXPECT_EQ(why_no_forecast(algorithm::make_plan({.algorithm = "mr-admm", .epsilon = {1}}, setting)), "");
}

// The noise is that of g rows; how rows of one person hang together is in no setting of the table.
TEST(NewtonForecast, OfSeveralRowsOfAPersonNoRangeIsTold) {
  Known k = five_parties();
  const Forecast one = forecast(k);
  EXPECT_TRUE(one.ranged);
  EXPECT_THAT(in_words(one), testing::AllOf(HasSubstr(" to "), HasSubstr("features fill their bounds")));
  k.rows_per_person = 4;
  const Forecast four = forecast(k);
  EXPECT_FALSE(four.ranged);
  EXPECT_NEAR(noise_to_signal(k), 4 * noise_to_signal(five_parties()), 1e-12);
  EXPECT_THAT(in_words(four), testing::AllOf(HasSubstr("everybody has one row"), HasSubstr("no range is known"),
                                             testing::Not(HasSubstr(" to "))));
}

TEST(NewtonForecast, BelowSoManyRecordsItIsGuessing) {
  Known k = five_parties(0.1);
  k.records = guessing_below(k);
  EXPECT_NEAR(noise_to_signal(k), 0.3, 0.3 * 0.05);  // two digits
  k.records *= 0.9;
  EXPECT_TRUE(forecast(noise_to_signal(k)).guessing);
  EXPECT_THAT(in_words(forecast(noise_to_signal(k))), HasSubstr("no better than always guessing"));
  k.records *= 1.25;
  EXPECT_FALSE(forecast(noise_to_signal(k)).guessing);
}

TEST(NewtonForecast, LeversAreOrderedByWhatTheyGain) {
  const auto names = [](const Known& k) {
    std::vector<std::string> all;
    for (const Lever& lever : levers(k)) all.push_back(lever.what);
    return all;
  };
  Known k = five_parties();
  // μ(2ε) < 2 μ(ε): twice the budget gains a little less than half the features.
  EXPECT_EQ(names(k), (std::vector<std::string>{"half the features", "twice the records", "twice the epsilon"}));
  EXPECT_NEAR(levers(k)[0].then.points, forecast(noise_to_signal(k) / 2).points, 1e-12);
  // Where the noise can cancel: c = 4 of 5 gives F = √5, c = 2 gives √(5/3), which gains less than a half; of 100 more.
  k.fewest_colluders = 0;
  EXPECT_EQ(names(k).back(), "at most 2 of the other 4 parties pool what they know");
  Known many{.epsilon = std::vector<double>(100, 1), .delta = 1e-5, .weights = 62, .records = 45000, .colluders = 99};
  EXPECT_EQ(names(many).front(), "at most 49 of the other 99 parties pool what they know");
  EXPECT_NEAR(levers(many)[0].then.points,
              forecast(std::sqrt(100. / 51) * 62 / (45000 * privacy::gdp_mu(1, 1e-5))).points, 1e-12);
  EXPECT_THAT(levers_in_words(many), HasSubstr(", and then ε = "));
  many.colluders = 25;  // fewer already
  EXPECT_THAT(levers_in_words(many), Not(HasSubstr("against all others together")));
  EXPECT_EQ(names(many).size(), 3U);
}

// The plan that the lever speaks of has this second figure.
TEST(NewtonForecast, FewerWhoPoolSayWhatAllOthersTogetherThenLearn) {
  const Setting setting{.degree = {4, 4, 4, 4, 4}, .records = {2000, 2000, 2000, 2000, 2000}, .features = 6};
  Options o{.algorithm = "newton", .epsilon = {1}};
  const auto found = levers(*known_of(algorithm::make_plan(o, setting)));
  const auto pooled = std::ranges::find_if(found, [](const Lever& l) { return l.epsilon_all_others > 0; });
  ASSERT_NE(pooled, found.end());
  EXPECT_EQ(pooled->what, "at most 2 of the other 4 parties pool what they know");
  o.colluders = 2;
  const double planned = algorithm::make_plan(o, setting).nodes[0].epsilon_all_others;
  EXPECT_GE(pooled->epsilon_all_others, planned);
  EXPECT_NEAR(pooled->epsilon_all_others, planned, 1e-6);
  EXPECT_GT(planned, 1.5);
}

}  // namespace
}  // namespace parley::algorithm::newton
