#include "parley/data/schema_texts.h"

#include "parley/base/message_test.h"
#include "parley/data/encode.h"
#include "parley/data/mutate_test.h"

namespace parley::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Schema schema_with(const std::string& top, const std::string& columns) {
  const Schema schema = parse_schema(
      top + "intercept = false\n[label]\ncolumn = 'y'\npositive = ['Yes']\nnegative = ['No']\n" + columns, "s.toml");
  EXPECT_EQ(parse_schema(to_toml(schema), "again"), schema) << to_toml(schema);
  return schema;
}
std::string refused(const std::string& top, const std::string& columns) {
  return message_of([&] { schema_with(top, columns); });
}

const std::string job = "[[columns]]\nname = 'job'\nkind = 'categorical'\ncategories = ['cook', 'night nurse']\n";

// The features of one row that has the cell in its only column.
std::vector<double> features(const Schema& schema, const std::string& cell, const std::string& label = "Yes") {
  const Table table{.source = "t.csv", .columns = {schema.columns[0].name, "y"}, .cells = {{cell, label}}, .line = {2}};
  const Rows rows = encode(table, schema, "t").rows;
  std::vector<double> x(static_cast<std::size_t>(rows.features), 0);
  for (std::size_t i = 0; i < rows.column.size(); ++i) x[static_cast<std::size_t>(rows.column[i])] = rows.value[i];
  return x;
}
std::string cell_failure(const Schema& schema, const std::string& cell, const std::string& label = "Yes") {
  return message_of([&] { features(schema, cell, label); });
}

TEST(Folding, DropsWhatTheSchemaSaysDoesNotCount) {
  EXPECT_EQ(folded("  Night \t Nurse ", Fold::none), "  Night \t Nurse ");
  EXPECT_EQ(folded("  Night \t Nurse ", Fold::letters), "  night \t nurse ");
  EXPECT_EQ(folded("  Night \t Nurse ", Fold::blanks), "Night Nurse");
  EXPECT_EQ(folded("  Night \t Nurse ", Fold::both), "night nurse");
  EXPECT_EQ(folded("M\xC3\x9CLLER", Fold::letters), "m\xC3\x9Cller") << "letters of ASCII only";
  EXPECT_EQ(folded(" \t ", Fold::both), "");
}

TEST(Folding, HoldsForCategoriesLabelsAndMissingMarks) {
  const Schema plain = schema_with("", job), both = schema_with("fold = 'both'\n", job + "missing = 'zero'\n");
  EXPECT_THAT(cell_failure(plain, "Cook"), HasSubstr("did you mean 'cook'?"));
  EXPECT_THAT(features(both, " NIGHT  Nurse"), ElementsAre(0, 1));
  EXPECT_THAT(features(both, "na", " yes"), ElementsAre(0, 0)) << "NA is a missing mark, 'Yes' a label";
  EXPECT_THAT(cell_failure(both, " Pilot "), HasSubstr("got ' Pilot '")) << "the cell as it stands in the file";
  EXPECT_THAT(cell_failure(both, "cook", "perhaps"), HasSubstr("got 'perhaps'"));
}

TEST(Folding, TwoTextsThatBecomeOneAreRefused) {
  EXPECT_THAT(refused("fold = 'letters'\n", "[[columns]]\nname = 'j'\nkind = 'categorical'\ncategories = ['A', 'a']\n"),
              HasSubstr("two texts are the same after folding; got 'A' and 'a'"));
  EXPECT_THAT(
      refused("fold = 'letters'\n", "[[columns]]\nname = 'j'\nkind = 'categorical'\ncategories = ['na', 'b']\n"),
      HasSubstr("also a missing mark after folding; got 'na'"));
  EXPECT_THAT(refused("fold = 'case'\n", job), HasSubstr("'fold' is not one of its values"));
}

TEST(Aliases, AreOtherTextsOfACategory) {
  const Schema s = schema_with("", job + "aliases = { K = 'cook', N = 'night nurse', \"\\\"x\" = 'cook' }\n");
  EXPECT_THAT(features(s, "K"), ElementsAre(1, 0));
  EXPECT_THAT(features(s, "N"), ElementsAre(0, 1));
  EXPECT_THAT(features(s, "\"x"), ElementsAre(1, 0));
  EXPECT_THAT(feature_names(s), ElementsAre("job=cook", "job=night nurse")) << "no features of their own";
  EXPECT_THAT(refused("", job + "aliases = { K = 'pilot' }\n"),
              HasSubstr("an alias leads to no category; got 'pilot'"));
  EXPECT_THAT(refused("", job + "aliases = { cook = 'night nurse' }\n"), HasSubstr("an alias is a category itself"));
  EXPECT_THAT(refused("", job + "aliases = ['K']\n"), HasSubstr("must be pairs of texts"));
}

TEST(Codes, AreComparedAsWholeNumbers) {
  const Schema s = schema_with("", "[[columns]]\nname = 'c'\nkind = 'categorical'\ncategories = [1, 2, -9]\n");
  for (const char* one : {"1", "01", "1.0", "+1"}) EXPECT_THAT(features(s, one), ElementsAre(1, 0, 0)) << one;
  EXPECT_THAT(features(s, "-9"), ElementsAre(0, 0, 1));
  EXPECT_THAT(cell_failure(s, "1.5"), HasSubstr("not among its categories; got '1.5'"));
  EXPECT_THAT(cell_failure(s, "x"), HasSubstr("got 'x'"));
  EXPECT_THAT(refused("", "[[columns]]\nname = 'c'\nkind = 'categorical'\ncategories = [1, 1]\n"),
              HasSubstr("listed twice"));
  const Schema texts = schema_with("", "[[columns]]\nname = 'c'\nkind = 'categorical'\ncategories = ['1', '2']\n");
  EXPECT_THAT(cell_failure(texts, "01"), HasSubstr("got '01'")) << "in quotes they are texts";
}

TEST(Dates, BecomeDaysOrAPartOfTheDate) {
  const auto date = [](const std::string& rest) { return schema_with("", "[[columns]]\nname = 'd'\n" + rest); };
  const Schema days =
      date("kind = 'numeric'\ndate = 'days'\nsince = '2000-01-01'\nbounds = [0, 1000]\nout_of_range = 'error'\n");
  EXPECT_THAT(features(days, "2000-04-10"), ElementsAre(0.1)) << "100 days";
  EXPECT_THAT(features(days, "2000-04-10 23:59:59"), ElementsAre(0.1));
  EXPECT_THAT(cell_failure(days, "1999-12-31"), HasSubstr("out of range; got -1"));
  for (const char* no :
       {"2001-02-29", "2000-4-10", "10.04.2000", "2000-13-01", "2000-04-10x", "5", "2000-00-00", "-200-01-01"})
    EXPECT_THAT(cell_failure(days, no), HasSubstr("column 'd' is not a date of the calendar")) << no;
  const Schema year = date("kind = 'numeric'\ndate = 'year'\nbounds = [2000, 2100]\n");
  EXPECT_THAT(features(year, "2050-12-31"), ElementsAre(0.5));
  const Schema month = date("kind = 'categorical'\ndate = 'month'\ncategories = [2, 12]\n");
  EXPECT_THAT(features(month, "2024-02-29"), ElementsAre(1, 0));
  EXPECT_THAT(cell_failure(month, "2024-03-01"), HasSubstr("got '2024-03-01'"));
  const Schema weekday = date("kind = 'categorical'\ndate = 'weekday'\ncategories = [1, 7]\nother = 'zero'\n");
  EXPECT_THAT(features(weekday, "2026-11-16"), ElementsAre(1, 0)) << "a Monday";
  EXPECT_THAT(features(weekday, "2026-11-22"), ElementsAre(0, 1)) << "a Sunday";
  EXPECT_THAT(features(weekday, "2026-11-18"), ElementsAre(0, 0));
}

TEST(Dates, RulesOfTheSchemaAreChecked) {
  const auto no = [](const std::string& rest) { return refused("", "[[columns]]\nname = 'd'\n" + rest); };
  EXPECT_THAT(no("kind = 'numeric'\ndate = 'days'\nbounds = [0, 1]\n"), HasSubstr("the key 'since' is missing"));
  EXPECT_THAT(no("kind = 'numeric'\ndate = 'days'\nsince = '2000-02-30'\nbounds = [0, 1]\n"),
              HasSubstr("must be a date of the calendar"));
  EXPECT_THAT(no("kind = 'numeric'\ndate = 'year'\nsince = '2000-01-01'\nbounds = [0, 1]\n"),
              HasSubstr("'since' has no meaning"));
  EXPECT_THAT(no("kind = 'categorical'\ndate = 'month'\ncategories = ['1']\n"),
              HasSubstr("write categories = [1, 2, 3]"));
  EXPECT_THAT(no("kind = 'categorical'\ndate = 'days'\ncategories = [1]\n"), HasSubstr("the key 'since' is missing"));
}

TEST(SchemaTexts, DamagedSchemasAndCellsAreReadOrRefusedButNothingElse) {
  auto random = repeatable_random(15);
  const std::string good =
      "fold = 'both'\n[label]\ncolumn = 'y'\npositive = ['Yes']\nnegative = ['No']\n"
      "[[columns]]\nname = 'j'\nkind = 'categorical'\ncategories = ['a b', 'c']\naliases = { K = 'c', 'x y' = 'a b' }\n"
      "[[columns]]\nname = 'k'\nkind = 'categorical'\ncategories = [1, 2, 12]\ndate = 'month'\n"
      "[[columns]]\nname = 'd'\nkind = 'numeric'\ndate = 'days'\nsince = '2000-01-01'\nbounds = [0, 99]\n";
  int parsed = 0, refused = 0, encoded = 0;
  for (int i = 0; i < 10000; ++i) {
    const std::string text = i % 3 == 0 ? good : mutated(good, "[]{}\"'=,.#\n\\ 1-+_:Tae", random);
    try {
      const Schema s = parse_schema(text, "s.toml");
      ++parsed;
      ASSERT_EQ(parse_schema(to_toml(s), "again"), s) << text;
      std::vector<std::string> columns{s.label.column}, row{"yes"};
      for (const auto& c : s.columns) {
        columns.push_back(c.name);
        const std::string cell = c.date != DatePart::none ? "2001-02-28 10:00" : c.codes ? "12.0" : " A  b";
        row.push_back(random() % 3 == 0 ? mutated(cell, "0123456789-+.eET ", random) : cell);
      }
      encode({.source = "t", .columns = columns, .cells = {row}, .line = {2}}, s, "t");
      ++encoded;
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(parsed, 3500);
  EXPECT_GT(refused, 1000);
  EXPECT_GT(encoded, 500);
}

}  // namespace
}  // namespace parley::data
