// What is signed, beside a run.json that is not.
#include "parley/record/adjacency.h"
#include "parley/report/party/party_report_test.h"
#include "parley/report/read.h"

namespace parley::report {
namespace {

// run.json is not signed.
TEST_F(PartyReport, AUnitThatTheStatementDoesNotHaveIsNoClaim) {
  const json record = {{"unit", "record"}, {"adjacency", record::meaning_in_statement(0)}},
             person = {{"unit", "person (up to 4 rows)"},
                       {"rows_per_person", 4},
                       {"adjacency", record::meaning_in_statement(4)}};
  const json of_rows = {{"unit", "row"}, {"adjacency_means", record::meaning_of(record::Adjacency::replace_one)}},
             of_persons = {{"unit", "person"},
                           {"rows_per_person", 4},
                           {"adjacency_means", record::meaning_of(record::Adjacency::replace_one, 4)}};
  const auto shown = [&](const json& statement, const json& privacy) {
    write(1);
    state("beta", statement);
    tell_privacy("beta", privacy);
    return page_of({base_ / "beta"});
  };
  EXPECT_THAT(shown(record, of_rows), HasSubstr("</span> about any one record."));
  EXPECT_THAT(shown(person, of_persons), HasSubstr("</span> about any one person (up to 4 rows)."));
  const auto no_claim = AllOf(HasSubstr("NOT PRIVATE</strong> the statement of beta is for any one "),
                              Not(HasSubstr("learns at most")), Not(HasSubstr("class=\"light green\"")));
  EXPECT_THAT(shown(record, of_persons), no_claim);
  EXPECT_THAT(shown(person, of_rows), no_claim);
  json edited = of_persons;
  edited["rows_per_person"] = 9;
  EXPECT_THAT(shown(person, edited), no_claim);
  edited = of_rows;
  edited["adjacency_means"] = "anything at all is replaced";
  EXPECT_THAT(shown(record, edited), no_claim);
  json other = record;
  other["adjacency"] = record::meaning_in_statement(4);
  EXPECT_THAT(shown(other, of_rows), HasSubstr("the statement of beta is about another change of rows than its unit"));
}

TEST_F(PartyReport, AStatementOfLargerFiguresThanRunJsonCounts) {
  state("beta", {{"delta", 1e-5}, {"epsilon_planned", 2.5}});
  const report::Run run = read_runs({base_ / "beta"}, {.audience = Audience::anyone, .option = shareable})[0];
  EXPECT_DOUBLE_EQ(run.guarantee.delta, 1e-5);
  EXPECT_DOUBLE_EQ(run.guarantee.epsilon_planned, 2.5);
}

// That of an earlier process, while the next one goes on.
TEST_F(PartyReport, AStatementThatIsOlderThanItsRecordTakesNoEpsilonDown) {
  json run = json::parse(std::ifstream(base_ / "beta/run.json"));
  run["node_facts"] = {{{"node", 1}, {"epsilon_planned", 2.0}}};
  std::ofstream(base_ / "beta/run.json") << run.dump();
  state("beta", {{"rounds_released", 1}});
  const report::Run shown = read_runs({base_ / "beta"}, {.audience = Audience::anyone, .option = shareable})[0];
  EXPECT_DOUBLE_EQ(shown.nodes[1].epsilon, 2);
  EXPECT_THAT(shown.faults,
              testing::Contains(HasSubstr("the statement of beta counts 1 rounds, and its record has 2")));
  state("beta", {{"rounds_released", 2}});
  EXPECT_DOUBLE_EQ(read_runs({base_ / "beta"}, {.audience = Audience::anyone, .option = shareable})[0].nodes[1].epsilon,
                   1.75);
}

}  // namespace
}  // namespace parley::report
