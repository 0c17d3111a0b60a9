#include "parley/run/claim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "parley/algorithm/schedule.h"
#include "parley/privacy/gaussian.h"
#include "parley/run/intervals/coefficients.h"

namespace parley::run {
namespace {

TEST(SpentOfPlanned, SaysBothLossesAndAgainstWhomWhereNoiseIsShared) {
  const algorithm::Cost spent{.epsilon = 0.5, .all_others = 1.07}, planned{.epsilon = 1, .all_others = 2.1457};
  EXPECT_EQ(spent_of_planned("ε", spent, planned, {}), "ε 0.5000 of 1.0000");
  EXPECT_EQ(spent_of_planned("ε", spent, planned, {.parties = 4, .colluders = 1, .noise = {.own = 0.2, .pair = 0.5}}),
            "ε 0.5000 of 1.0000 against any 1 of the 4 parties together, 1.0700 of 2.1457 against all other parties "
            "together");
}

algorithm::Setting five(long rows_per_person = 0) {
  return {.degree = std::vector<int>(5, 4),
          .records = std::vector<double>(5, 8000),
          .features = 10,
          .rows_per_person = rows_per_person};
}

// docs/proofs/shared-noise.md, section 5: of two parties with ε = 1 each, 2.15 with shared noise and 1.47 with own.
TEST(SeveralParties, OwnNoiseAddsSquaresAndSharedNoiseAddsMu) {
  const algorithm::Options own{.algorithm = "newton", .epsilon = {1}, .delta = 1e-5};
  const algorithm::Plan plan = algorithm::make_plan(own, five(4));
  const auto cost = cost_at_two_parties(plan);
  ASSERT_TRUE(cost);
  EXPECT_NEAR(cost->epsilon, privacy::gdp_epsilon(std::sqrt(2) * privacy::gdp_mu(1, 1e-5), 1e-5), 1e-4);
  EXPECT_NEAR(cost->epsilon, 1.47, 0.01);
  EXPECT_EQ(cost->all_others, cost->epsilon);
  EXPECT_THAT(several_parties_in_words(plan),
              testing::MatchesRegex("A person with rows at 2 of the parties loses more: ε = 1\\.4[0-9]*\\. At k "
                                    "parties: √k times μ"));
  algorithm::Options sharing = own;
  sharing.colluders = 1;
  const algorithm::Plan shared = algorithm::make_plan(sharing, five());
  const auto more = cost_at_two_parties(shared);
  ASSERT_TRUE(more);
  EXPECT_NEAR(more->epsilon, 2.15, 0.01);
  EXPECT_NEAR(more->all_others, privacy::gdp_epsilon(2 * privacy::gdp_mu(shared.epsilon_all_others(), 1e-5), 1e-5),
              1e-3);
  EXPECT_THAT(
      several_parties_in_words(shared),
      testing::AllOf(testing::StartsWith("A record that stands at 2 of the parties loses more: ε = 2.1"),
                     testing::HasSubstr("if all others pool what they know"), testing::EndsWith("k times μ, not √k")));
}

TEST(SeveralParties, GammaNoiseAddsEpsilonAndTheTwoWhoLoseMostCount) {
  algorithm::Options o{.algorithm = "mr-admm", .epsilon = {0.5}, .delta = 0};
  const algorithm::Plan plan = algorithm::make_plan(o, five());
  ASSERT_TRUE(cost_at_two_parties(plan));
  EXPECT_NEAR(cost_at_two_parties(plan)->epsilon, 2 * plan.epsilon(), 1e-9);
  EXPECT_GE(cost_at_two_parties(plan)->epsilon, 2 * plan.epsilon()) << "rounded up";
  algorithm::Plan unequal = plan;
  for (auto& r : unequal.nodes[3].private_rounds) r.charge.epsilon *= 3;
  EXPECT_NEAR(cost_at_two_parties(unequal)->epsilon, 6 * plan.epsilon(), 1e-9);
  EXPECT_FALSE(cost_at_two_parties(algorithm::make_plan({.algorithm = "mr-admm", .noise = "none"}, five())));
}

// Standard errors count records.
TEST(AssumptionsOfIntervals, SeveralRowsOfAPersonAreNotIndependentRecords) {
  const algorithm::Options o{.algorithm = "newton", .epsilon = {1}, .delta = 1e-5};
  const auto said = [&](long rows) { return assumptions_of_intervals(algorithm::make_plan(o, five(rows))); };
  EXPECT_EQ(said(0), said(1));
  EXPECT_THAT(said(1), testing::Not(testing::HasSubstr("too small")));
  EXPECT_THAT(said(4), testing::HasSubstr("Several rows of one person are not independent records: standard errors are "
                                          "then too small"));
}

}  // namespace
}  // namespace parley::run
