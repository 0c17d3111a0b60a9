#include "parley/privacy/group.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "parley/privacy/gaussian.h"

namespace parley::privacy {
namespace {

TEST(Group, MultipliesAndNeverRoundsDown) {
  EXPECT_EQ(for_group(0.3, 1), 0.3);
  for (const double price : {0.1, 0.25, 1.0 / 3, 2.7, 1e-9, 1e9})
    for (const long rows : {2L, 3L, 7L, 1000L, most_rows_per_person}) {
      const long double exact = static_cast<long double>(price) * static_cast<long double>(rows);
      EXPECT_GE(static_cast<long double>(for_group(price, rows)), exact);
      EXPECT_LE(static_cast<long double>(for_group(price, rows)), exact * (1 + 1e-15L));
    }
  EXPECT_EQ(for_group(0, 5), 0);
  EXPECT_EQ(for_group(std::numeric_limits<double>::infinity(), 5), std::numeric_limits<double>::infinity());
}

// One sum of sensitivity 1 with noise of deviation 4, and g rows that all push the same way: N(0, 1) and N(g/4, 1).
TEST(Group, GoldenNumbersOfFourRowsAreThoseOfAGaussianShiftedFourTimesAsFar) {
  const Charge charge = for_person({.kind = "linear-gaussian", .mu = 0.25}, 4);
  EXPECT_NEAR(charge.mu, 1, 1e-15);
  EXPECT_NEAR(gdp_epsilon(charge.mu, 1e-5), 4.377178096, 1e-8);  // accounting.md: gdp_eps(1, 1e-5)
  EXPECT_NEAR(gdp_delta(charge.mu, 1), 0.1269367375, 1e-9);
  EXPECT_GT(gdp_epsilon(charge.mu, 1e-5), 4 * gdp_epsilon(0.25, 1e-5)) << "epsilon times four would be too little";
}

TEST(Group, AChargeForAPersonSaysForHowManyRowsAndThatOfARowIsUntouched) {
  const Charge row{.kind = "sums-gaussian", .mu = 0.5, .mu_colluders = 0.125, .parameters = {{"gradient_bound", 1}}};
  const Charge same = for_person(row, 0), person = for_person(row, 3), alone = for_person(row, 1);
  EXPECT_EQ(same.mu, 0.5);
  EXPECT_EQ(same.parameters.size(), 1U);
  EXPECT_NEAR(person.mu, 1.5, 1e-15);
  EXPECT_NEAR(*person.mu_colluders, 0.375, 1e-15);
  EXPECT_EQ(person.parameters.back(), (std::pair<std::string, double>("rows_per_person", 3)));
  EXPECT_EQ(alone.mu, 0.5);
  EXPECT_EQ(alone.parameters.back().second, 1);
  EXPECT_NEAR(for_person({.kind = "output-gamma", .epsilon = 0.1}, 5).epsilon, 0.5, 1e-15);
}

}  // namespace
}  // namespace parley::privacy
