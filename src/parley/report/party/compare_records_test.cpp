// Records of several parties of one run, held against each other.
#include "parley/base/message_test.h"
#include "parley/report/party/party_report_test.h"
#include "parley/report/read.h"

namespace parley::report {
namespace {

// One study run twice: 'verify' tells no ε of whoever released in both, and neither does the page.
TEST_F(PartyReport, OfAPartyOfWhichTheRecordsHoldTwoHistoriesNoEpsilonIsShown) {
  const std::vector<fs::path> both = {base_ / "alpha", base_ / "beta"};
  const auto of_one = AllOf(HasSubstr("no ε holds for alpha, of which these records hold two histories"),
                            Not(HasSubstr("class=\"light green\"")), Not(HasSubstr("learns at most")),
                            Not(HasSubstr("2.0000")), Not(HasSubstr("1.2500")), HasSubstr("1.7500"));
  EXPECT_THAT(page_of(both), AllOf(HasSubstr("learns at most <span"), Not(HasSubstr("two histories"))));
  write_transcript(base_ / "beta", 1, {{"alpha", {0, 1.5}}, {"beta", {0, 3}}});
  EXPECT_THAT(page_of(both), of_one);
  EXPECT_THAT(page_of({base_ / "beta", base_ / "alpha"}), of_one);
  write_transcript(base_ / "beta", 1, {{"alpha", {0, 1}}, {"beta", {0, 3}}}, 9);  // another process of alpha's
  EXPECT_THAT(page_of(both), of_one);
}

TEST_F(PartyReport, RecordsOfSeveralPartiesThatCannotBeComparedAreNotVerified) {
  const std::vector<fs::path> both = {base_ / "alpha", base_ / "beta"};
  const auto not_verified =
      AllOf(HasSubstr("Not verified"), HasSubstr("Transcript of beta: "), Not(HasSubstr("learns at most")),
            Not(HasSubstr("class=\"light green\"")), Not(HasSubstr("1.7500")));
  for (const std::vector<Said>& cut : std::vector<std::vector<Said>>{
           {{"alpha", {0, 1}}, {"beta", {0}}}, {{"alpha", {}}, {"beta", {0, 3}}}, {{"alpha", {}}, {"beta", {}}}}) {
    write_transcript(base_ / "beta", 1, cut);
    EXPECT_THAT(page_of(both), not_verified);
  }
  write_transcript(base_ / "beta", 1, {{"alpha", {0, 1}}, {"zeta", {0, 3}}});
  EXPECT_THAT(page_of(both), not_verified);
  fs::remove(base_ / "beta/transcript");
  EXPECT_THAT(page_of(both), not_verified);
  EXPECT_THAT(page_of({base_ / "beta"}), HasSubstr("learns at most <span"));  // its own word, as it says
}

// What a party keeps as evidence takes an ε away in 'verify', also from one record, and before run.json names anybody.
TEST_F(PartyReport, OfWhomARecordKeepsEvidenceNoEpsilonIsShown) {
  protocol::Message other{.kind = protocol::Kind::value, .run = "abc", .sender = "beta", .node = 1, .round = 1};
  protocol::Transcript(open_append_file(base_ / "beta/transcript"), "its owner", [](auto, auto) {
  }).append(protocol::Transcript::Entry::evidence, protocol::encode(other));
  for (const std::vector<fs::path>& given : {std::vector{base_ / "beta"}, {base_ / "alpha", base_ / "beta"}})
    EXPECT_THAT(page_of(given), AllOf(HasSubstr("no ε holds for beta, of which"), Not(HasSubstr("learns at most")),
                                      Not(HasSubstr("1.7500"))));
}

TEST_F(PartyReport, TwoRecordsOfOnePartyAreTwoReleases) {
  fs::create_directories(base_ / "again");
  fs::copy(base_ / "beta", base_ / "again/beta", fs::copy_options::recursive);
  EXPECT_THAT(message_of([&] { page_of({base_}); }),
              AllOf(HasSubstr("two records of one party"), HasSubstr("beta"), HasSubstr("give one of ")));
  EXPECT_THAT(page_of({base_ / "beta", base_ / "beta"}), HasSubstr("learns at most"));  // one folder, named twice
}

}  // namespace
}  // namespace parley::report
