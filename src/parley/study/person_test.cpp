// A study whose schema names persons: the same for all parties, in the plan, the hash and the statement.
#include "parley/study/statement.h"
#include "parley/study/study_test.h"

namespace parley::study {
namespace {

using testing::AllOf;
using testing::Contains;

struct PersonStudy : StudyFile {
  const std::string of_persons = "person = 'patient'\nrows_per_person = 4\n" + schema;
  Study with(const std::string& text) {
    write_file(folder / "schema.toml", text);
    return study(head + three);
  }
};

TEST_F(PersonStudy, IsPlannedForThePersonAndIsAnotherStudy) {
  const Study row = with(schema), person = with(of_persons);
  const StudyPlan rows = plan_of(row), persons = plan_of(person);
  EXPECT_EQ(persons.unit, (data::Unit{.person = "patient", .rows_per_person = 4}));
  EXPECT_EQ(rows.unit, data::Unit{});
  EXPECT_LE(persons.plan.epsilon(), 1);
  const auto& charge = persons.plan.nodes[1].private_rounds[0].charge;
  EXPECT_EQ(charge.parameters.back(), (std::pair<std::string, double>("rows_per_person", 4)));
  EXPECT_NE(study_hash(canonical_json(row, rows)), study_hash(canonical_json(person, persons)));
  const Study fewer = with("person = 'patient'\nrows_per_person = 3\n" + schema);
  EXPECT_NE(study_hash(canonical_json(fewer, plan_of(fewer))), study_hash(canonical_json(person, persons)));
}

TEST_F(PersonStudy, TheStatementSaysWhomItIsForAndWhatNoProgramCanCheck) {
  const auto stated = [&](const std::string& text) {
    const Study s = with(text);
    const StudyPlan p = plan_of(s);
    return statement_json(s, p, 1, std::string(64, 'a'), {}, {.epsilon = 0.5, .delta = 1e-6, .rounds = 50});
  };
  const json person = stated(of_persons), row = stated(schema);
  EXPECT_EQ(person["rows_per_person"], 4);
  EXPECT_FALSE(row.contains("rows_per_person"));
  EXPECT_THAT(
      statement_text(person),
      AllOf(HasSubstr("about any one person (up to 4 rows)\nof hospital_b"),
            HasSubstr("Adjacency: what the rows of one person (up to 4 rows) of this party hold is replaced"),
            HasSubstr("no person has more than 4 rows among the rows of this party"),
            HasSubstr("each figure is for rows at this party alone. A person with rows at 2 of the parties loses more"),
            HasSubstr("theorem P1"), Not(HasSubstr("patient"))));
  EXPECT_THAT(statement_text(row), AllOf(HasSubstr("about any one record\nof hospital_b"), Not(HasSubstr("person"))));
}

// Two figures: neither covers a person with rows at several parties, and one sentence says so.
TEST_F(PersonStudy, WithSharedNoiseAPersonAtSeveralPartiesIsCoveredByNeitherFigure) {
  write_file(folder / "schema.toml", of_persons);
  std::string text = head + three;
  text.replace(text.find("mr-admm"), 7, "newton");
  const Study s = study(text.insert(text.find("epsilon ="), "colluders = 1\n"));
  const json statement = statement_json(s, plan_of(s), 1, std::string(64, 'a'), {}, {.epsilon = 0.5, .delta = 1e-6});
  EXPECT_THAT(
      statement["assumptions"],
      AllOf(Contains("a person with rows at several parties is not covered by either figure: there the costs add up"),
            Not(Contains(
                "a person with rows at several parties is not covered by this figure: there the costs add up"))));
}

}  // namespace
}  // namespace parley::study
