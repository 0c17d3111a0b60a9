// Coverage of the 95 % intervals (docs/use/intervals.md). Short: two settings, each beside its broken twin. Full (PARLEY_TEST_FULL=1):
// eight settings, 500 studies each, printed as the table of docs/use/intervals.md. The rule was tuned on other settings and
// other seeds.
#include "coverage.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "length.h"

namespace parley::statistical {
namespace {

const std::vector<StudySetting>& settings() {
  static const std::vector<StudySetting> all = {
      {.name = "logistic", .records = 40000, .numbers = 5, .flags = 4, .epsilon = 1, .parties = 4, .colluders = 1},
      {.name = "own noise", .records = 80000, .numbers = 4, .flags = 3, .epsilon = 1, .parties = 5},
      {.name = "slopes cut at 0.35, lambda 1e-3",
       .records = 50000,
       .numbers = 6,
       .flags = 2,
       .epsilon = 1,
       .parties = 5,
       .colluders = 2,
       .clip = 0.35,
       .ridge = 1e-3},
      {.name = "large, cut at 0.35, lambda 1e-3",
       .records = 200000,
       .numbers = 6,
       .flags = 3,
       .epsilon = 1,
       .parties = 10,
       .colluders = 3,
       .clip = 0.35,
       .ridge = 1e-3,
       .effect = 1.5},
      {.name = "model wrong: square and product",
       .records = 60000,
       .numbers = 6,
       .flags = 5,
       .epsilon = 1,
       .parties = 6,
       .colluders = 2,
       .truth = Truth::curved},
      {.name = "model wrong: another link",
       .records = 25000,
       .numbers = 3,
       .flags = 2,
       .epsilon = 0.5,
       .parties = 20,
       .colluders = 5,
       .truth = Truth::unequal},
      {.name = "linear",
       .records = 60000,
       .numbers = 4,
       .flags = 3,
       .epsilon = 1,
       .parties = 5,
       .colluders = 1,
       .linear = true},
      {.name = "linear, own noise",
       .records = 200000,
       .numbers = 6,
       .flags = 3,
       .epsilon = 1,
       .parties = 4,
       .linear = true},
  };
  return all;
}

TEST(Coverage, OfNinetyFivePercentIntervalsIsBetween93AndAHalfAnd96AndAHalfPercent) {
  if (!audit::is_full()) GTEST_SKIP() << "the long form, under PARLEY_TEST_FULL=1";
  unsigned long long seed = 77001;
  for (const StudySetting& s : settings()) {
    const Coverage c = coverage(s, 500, ++seed);
    std::printf("%-36s n %6ld  d %2d  eps %.2g  N %2d  C %2d   %.1f %% of %.0f printed (%.1f %%), SE %.2f times\n",
                s.name.c_str(), s.records, s.numbers + s.flags + 1, s.epsilon, s.parties, s.colluders, 100 * c.share(),
                c.printed, 100 * c.printed / c.all, c.wider);
    std::fflush(stdout);
    EXPECT_GT(c.share(), 0.935) << s.name;
    EXPECT_LT(c.share(), 0.965) << s.name;
    EXPECT_GT(c.printed / c.all, 0.5) << s.name;
  }
}

// 4 standard errors of a share of coefficients, those of a study counted as one half each: they go together.
double slack(const Coverage& c) {
  return 4 * std::sqrt(0.95 * 0.05 / (c.printed / 2));
}

TEST(Coverage, HoldsInShortStudiesAndNotForIntervalsThatForgetTheNoise) {
  const StudySetting small{.name = "small",
                           .records = 12000,
                           .numbers = 2,
                           .flags = 2,
                           .epsilon = 1,
                           .parties = 3,
                           .colluders = 1,
                           .clip = 0.35,
                           .ridge = 1e-3},
      linear{.name = "linear",
             .records = 12000,
             .numbers = 2,
             .flags = 1,
             .epsilon = 1.5,
             .parties = 3,
             .colluders = 1,
             .linear = true};
  for (StudySetting s : {small, linear}) {
    const Coverage c = coverage(s, 150, 5);
    EXPECT_GT(c.printed / c.all, 0.5) << s.name;
    EXPECT_NEAR(c.share(), 0.95, slack(c)) << s.name;
    s.forget_noise = true;
    const Coverage forgotten = coverage(s, 150, 5);
    EXPECT_LT(forgotten.share(), 0.95 - 2 * slack(forgotten)) << s.name;
  }
}

}  // namespace
}  // namespace parley::statistical
