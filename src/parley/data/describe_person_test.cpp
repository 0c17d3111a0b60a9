// Which column of a sample a draft takes for the one that tells persons apart, and which it never does.
#include <gtest/gtest.h>

#include <tuple>

#include "parley/base/message_test.h"
#include "parley/base/public_random.h"
#include "parley/data/describe.h"
#include "parley/data/schema.h"

namespace parley::data {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Visits of persons, each with an id of its own, as a table of a clinic has them.
std::string clinic(int rows, int persons, const std::string& person = "patient_id", const std::string& prefix = "p") {
  PublicRandom random(3, PublicRandom::Purpose::rows);
  std::string text = "visit_id," + person + ",age,ill\n";
  for (int n = 0; n < rows; ++n) {
    const auto who = n < persons ? static_cast<std::uint64_t>(n) : random.below(static_cast<std::uint64_t>(persons));
    text += "v" + std::to_string(n) + "," + prefix + std::to_string(1000 + who) + "," +
            std::to_string(20 + random.below(60)) + (n % 3 == 0 ? ",yes\n" : ",no\n");
  }
  return text;
}

TEST(DescribePersons, ProposeTheColumnThatRepeatsAndNeverOneThatIsDifferentInEveryRow) {
  for (const auto& [rows, persons, name, prefix] : {std::tuple{463, 200, "patient_id", "p"},
                                                    {2278, 900, "patient_id", "p"},
                                                    {463, 200, "kartei", "k"},
                                                    {463, 200, "PatientNo", ""},
                                                    {2278, 900, "customer_id", ""},
                                                    {60, 20, "patient_id", "p"}}) {
    const std::string draft = draft_schema(parse_csv(clinic(rows, persons, name, prefix), "v.csv"), "ill");
    EXPECT_THAT(draft, HasSubstr("\nperson = \"" + std::string(name) + "\"\nrows_per_person = \"DECIDE\"\n"));
    EXPECT_THAT(draft, HasSubstr("# Dropped: " + std::string(name) + " (looks like an identifier: " +
                                 std::to_string(persons) + " values in " + std::to_string(rows) + " rows)"));
    EXPECT_THAT(draft, Not(HasSubstr("person = \"visit_id\"")));
    EXPECT_THAT(message_of([&, text = draft] { parse_schema(text, "d.toml"); }),
                AllOf(HasSubstr("nobody has decided how many rows one person may have"), HasSubstr("d.toml:")));
    std::string decided = draft;
    decided.replace(decided.find("\"DECIDE\""), 8, "4");
    const Schema s = parse_schema(decided, "d.toml");
    EXPECT_EQ(s.unit, (Unit{.person = name, .rows_per_person = 4}));
    EXPECT_EQ(feature_names(s), (std::vector<std::string>{"age", "(intercept)"})) << "no id is a category";
  }
}

TEST(DescribePersons, SaysThatAColumnWithoutRepetitionTellsNobodyApart) {
  const std::string draft = draft_schema(parse_csv(clinic(300, 300), "v.csv"), "ill");
  EXPECT_THAT(draft, AllOf(HasSubstr("# 'visit_id' is different in every row: it cannot tell persons apart."),
                           HasSubstr("# 'patient_id' is different in every row: it cannot tell persons apart."),
                           Not(HasSubstr("person ="))));
  EXPECT_EQ(parse_schema(draft, "d.toml").unit, Unit{});
}

TEST(DescribePersons, CategoriesAndMeasurementsThatRepeatAreNoPersons) {
  PublicRandom random(4, PublicRandom::Purpose::rows);
  std::string text = "country,income,number_of_visits,patient_age,y\n";
  for (int n = 0; n < 1000; ++n)
    text += "land " + std::to_string(random.below(60)) + "," + std::to_string(1000 + 10 * random.below(400)) + "," +
            std::to_string(random.below(90)) + "," + std::to_string(random.below(99)) + (n % 2 ? ",yes\n" : ",no\n");
  const std::string draft = draft_schema(parse_csv(text, "v.csv"), "y");
  const Schema s = parse_schema(draft, "d.toml");
  EXPECT_EQ(s.unit, Unit{});
  EXPECT_EQ(s.columns.at(0).kind, Kind::categorical);
  for (const std::size_t i : {1U, 2U, 3U}) EXPECT_EQ(s.columns.at(i).kind, Kind::numeric) << s.columns[i].name;
  EXPECT_THAT(draft, HasSubstr("# Decide: if these numbers tell persons or things apart: kind = \"drop\""))
      << "of income, which has few rows each";
}

}  // namespace
}  // namespace parley::data
