// A card of records made by hand: what it says, to whom, and what it never says.
#include "parley/report/card/model_card.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace parley::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Run a_run() {
  Run run;
  run.outcome = "completed";
  run.options = {{"algorithm", "mr-admm"}, {"loss", "logistic"}};
  run.nodes = {{.name = "alpha", .records = 4000}, {.name = "be|ta", .records = 6000}};
  run.party = true;
  run.title = "two <b>clinics</b>";
  run.features = 7;
  run.guarantee = {
      .holds = true, .epsilon = 0.9, .epsilon_planned = 0.9, .delta = 1e-6, .theorem = "theorem G", .bound = "proved"};
  return run;
}

std::string card_of(const Run& run, Audience audience = Audience::anyone) {
  return model_card({{.runs = {run}}}, {.audience = audience, .title = "a title", .version = "test"});
}

TEST(ModelCard, SaysPurposeDataPrivacyQualityAndLimits) {
  const std::string card = card_of(a_run());
  EXPECT_TRUE(card.starts_with(card_signature));
  for (const char* part :
       {"## Purpose\n", "## Data\n", "## Privacy\n", "## Quality\n", "## Limits\n", "To be filled in",
        "| records | 10,000 |", "| alpha | 4,000 |", "| features | 7 |", "learns at most ε = 0.9000", "GREEN",
        "everybody who sees every message", "theorem G", "Not covered: what is true of everybody"})
    EXPECT_THAT(card, HasSubstr(part)) << part;
  EXPECT_THAT(card, Not(HasSubstr("NOT PRIVATE")));
}

TEST(ModelCard, NamesBothClaimsWhereNoiseIsShared) {
  auto run = a_run();
  run.guarantee.epsilon_colluders = 0.25;
  run.guarantee.colluders = "any 1 of the 2 parties";
  EXPECT_THAT(card_of(run), AllOf(HasSubstr("| against | all other parties together |"),
                                  HasSubstr("| ε against any 1 of the 2 parties | 0.2500 |")));
}

TEST(ModelCard, OfARunThatIsNotPrivateIsStampedAndHasNoEpsilon) {
  auto run = a_run();
  run.guarantee.holds = false;
  run.guarantee.stamp = "NOT PRIVATE: noise from a seed";
  for (const Audience audience : {Audience::anyone, Audience::owner})
    EXPECT_THAT(card_of(run, audience), AllOf(HasSubstr("**NOT PRIVATE: noise from a seed**"), Not(HasSubstr("0.9000")),
                                              Not(HasSubstr("GREEN")), Not(HasSubstr("Not covered: what"))));
}

TEST(ModelCard, OfAVoidClaimHasNoEpsilonAtAll) {
  auto run = a_run();
  run.void_claims.contradicted = {"alpha"};
  run.guarantee.holds = false;
  run.guarantee.stamp = "NOT PRIVATE: " + run.void_claims.in_words();
  run.statements = {{.party = "beta", .words = "Privacy loss of beta: ε = 1.7500", .assumptions = {}}};
  EXPECT_THAT(card_of(run), AllOf(HasSubstr("alpha"), HasSubstr("No ε is stated here"), Not(HasSubstr("ε =")),
                                  Not(HasSubstr("0.9000")), Not(HasSubstr("1.7500"))));
}

TEST(ModelCard, HasMeasuredFiguresForTheOwnerAlone) {
  auto run = a_run();
  run.metrics.test_error = 0.123456;
  run.metrics.test_error_guessing = 0.24;
  run.metrics.test_error_pooled = 0.111;
  run.metrics.verdict = "better than guessing";
  run.metrics.no_better = false;
  EXPECT_THAT(card_of(run, Audience::owner),
              AllOf(HasSubstr("12.35 %"), HasSubstr("24.00 %"), HasSubstr("11.10 %"), HasSubstr("BETTER"),
                    HasSubstr("better than guessing"), HasSubstr("keep this card")));
  EXPECT_THAT(card_of(run), AllOf(HasSubstr("Accuracy is left out"), Not(HasSubstr("12.35")), Not(HasSubstr("24.00")),
                                  Not(HasSubstr("11.10")), Not(HasSubstr("better than guessing"))));
}

TEST(ModelCard, HostileTextStaysText) {
  const std::string card = card_of(a_run());
  EXPECT_THAT(card, AllOf(HasSubstr("be\\|ta"), HasSubstr("two \\<b\\>clinics\\</b\\>"), Not(HasSubstr("<b>"))));
  EXPECT_EQ(markdown_text("a\nb [x](y) # `z`"), "a b \\[x\\](y) \\# \\`z\\`");
}

}  // namespace
}  // namespace parley::report
