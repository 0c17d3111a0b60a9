// What a draft makes of tables as people have them.
#include "parley/base/message_test.h"
#include "parley/data/describe.h"
#include "parley/data/encode.h"

namespace parley::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// 60 rows with one column of `cell(n)`, and a label.
template <class Cell>
Table with_column(const std::string& name, Cell cell) {
  std::string text = name + ",y\n";
  for (int n = 0; n < 60; ++n) text += cell(n) + "," + (n % 3 == 0 ? "yes" : "no") + "\n";
  return parse_csv(text, "sample.csv");
}
Column column_of(const Table& table, const std::string& label = "") {
  return parse_schema(draft_schema(table, label), "draft").columns.at(0);
}

TEST(DraftDecides, OneBadCellDoesNotTurnNumbersIntoCategories) {
  const Table table = with_column("age", [](int n) { return n == 7 ? std::string("abc") : std::to_string(20 + n); });
  EXPECT_EQ(column_of(table).kind, Kind::numeric);
  EXPECT_THAT(draft_schema(table), HasSubstr("# Decide: 1 of 60 cells is no number, for example 'abc': correct it"));
  const Table many =
      with_column("age", [](int n) { return n % 5 == 0 ? "w" + std::to_string(n % 3) : std::to_string(n % 24); });
  EXPECT_EQ(column_of(many).kind, Kind::categorical) << "a fifth of the cells is no slip";
}

TEST(DraftDecides, WordsForMissingAreFound) {
  for (const std::string word : {"n/a", "N/A", "NA", "null", "NULL", "-", "."}) {
    const Table table = with_column("age", [&](int n) { return n % 10 == 0 ? word : std::to_string(20 + n); });
    const Schema s = parse_schema(draft_schema(table), "draft");
    EXPECT_THAT(s.missing, testing::Contains(word));
    EXPECT_EQ(s.columns[0].kind, Kind::numeric) << word;
    EXPECT_EQ(s.columns[0].missing, Missing::middle);
    EXPECT_EQ(encode(table, s, "d").rows.count(), 60U);
  }
  const Table signs = with_column("pole", [](int n) { return std::string(n % 2 == 0 ? "+" : "-"); });
  EXPECT_THAT(column_of(signs).categories, ElementsAre("+", "-")) << "here a minus is a value";
}

TEST(DraftDecides, YesAndNoInAnyOfTheirWordsAreALabel) {
  for (const auto& [yes, no] :
       {std::pair<std::string, std::string>{"Y", "N"}, {"true", "false"}, {"T", "F"}, {"1", "0"}, {"Yes", "No"}}) {
    std::string text = "x,y\n";
    for (int n = 0; n < 60; ++n) text += std::to_string(n * n) + "," + (n % 3 == 0 ? yes : no) + "\n";
    const Schema s = parse_schema(draft_schema(parse_csv(text, "s.csv")), "draft");
    EXPECT_EQ(s.label.positive, std::vector{yes});
    EXPECT_EQ(s.label.negative, std::vector{no});
  }
  std::string text = "x,y\n";
  for (int n = 0; n < 60; ++n)
    text += std::to_string(n * n) + "," +
            std::vector<std::string>{"Y", "no", "N", "true"}[static_cast<std::size_t>(n) % 4] + "\n";
  const Schema s = parse_schema(draft_schema(parse_csv(text, "s.csv")), "draft");
  EXPECT_THAT(s.label.positive, testing::UnorderedElementsAre("Y", "true"));
  EXPECT_THAT(s.label.negative, testing::UnorderedElementsAre("N", "no"));
}

TEST(DraftDecides, SpellingsOfOneWordAreFolded) {
  const Table table = with_column("job", [](int n) {
    return std::string(n % 3 == 0 ? "Cook" : n % 3 == 1 ? "cook" : "Night  nurse");
  });
  const std::string text = draft_schema(table);
  const Schema s = parse_schema(text, "draft");
  EXPECT_EQ(s.fold, Fold::both);
  EXPECT_THAT(s.columns[0].categories, ElementsAre("Cook", "Night  nurse"));
  EXPECT_THAT(text, HasSubstr("# Decide: fold = \"both\""));
  EXPECT_EQ(encode(table, s, "d").rows.count(), 60U);
}

TEST(DraftDecides, DatesBecomeDaysAndCodesCategories) {
  const Table dates =
      with_column("seen", [](int n) { return "2024-0" + std::to_string(1 + n % 9) + "-1" + std::to_string(n % 10); });
  const Column d = column_of(dates);
  EXPECT_EQ(d.date, DatePart::days);
  EXPECT_EQ(d.since, "2000-01-01");
  EXPECT_THAT(draft_schema(dates), HasSubstr("# Decide: days since a public date, or date = \"year\""));
  EXPECT_EQ(encode(dates, parse_schema(draft_schema(dates), "draft"), "d").rows.count(), 60U);
  const Table codes = with_column("grade", [](int n) { return std::to_string(1 + n % 4); });
  EXPECT_TRUE(column_of(codes).codes);
  EXPECT_THAT(draft_schema(codes), HasSubstr("categories = [1, 2, 3, 4]"));
  EXPECT_THAT(draft_schema(codes), HasSubstr("# Decide: whole numbers, taken for codes of categories"));
}

TEST(DraftDecides, ColumnsThatLookLikeIdentifiersAreNamed) {
  const auto sparse = [](int n) { return std::to_string(1000 + 77 * n); };
  EXPECT_THAT(draft_schema(with_column("patient_id", sparse)),
              HasSubstr("# Dropped: patient_id (looks like an identifier: 60 values in 60 rows)"));
  EXPECT_THAT(draft_schema(with_column("anything", [](int n) { return std::to_string(500 + n); })),
              HasSubstr("# Dropped: anything (looks like an identifier"));
  EXPECT_THAT(draft_schema(with_column("width", sparse)), Not(HasSubstr("identifier")))
      << "numbers that differ may be measured";
}

TEST(DraftDecides, TheLabelCanBeNamed) {
  std::string text = "age,ward,sick\n";
  for (int n = 0; n < 60; ++n)
    text += std::to_string(20 + n % 40) + "," + "abc"[n % 3] + "," + (n % 2 == 0 ? "yes" : "no") + "\n";
  const Table table = parse_csv(text, "s.csv");
  EXPECT_EQ(parse_schema(draft_schema(table), "d").label.column, "sick");
  EXPECT_THAT(parse_schema(draft_schema(table, "ward"), "d").label.classes, ElementsAre("a", "b", "c"));
  EXPECT_TRUE(parse_schema(draft_schema(table, "age"), "d").label.regression());
  EXPECT_THAT(
      message_of([&] { draft_schema(table, "Sick"); }),
      testing::AllOf(HasSubstr("the label column 'Sick' is not in the table"), HasSubstr("did you mean 'sick'?")));
}

}  // namespace
}  // namespace parley::data
