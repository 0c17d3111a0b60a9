#include "parley/data/describe.h"

#include <fmt/format.h>

#include <cmath>
#include <random>
#include <stdexcept>

#include "parley/base/message_test.h"
#include "parley/data/draft.h"
#include "parley/data/encode.h"
#include "parley/data/mutate_test.h"

namespace parley::data {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// The table itself must encode by its draft.
Schema drafted(const Table& table) {
  const std::string text = draft_schema(table);
  const Schema schema = parse_schema(text, "draft");
  const Dataset d = encode(table, schema, "d");
  EXPECT_EQ(d.rows.count(), table.cells.size());
  return schema;
}

const Column& find(const Schema& schema, const std::string& name) {
  for (const auto& c : schema.columns)
    if (c.name == name) return c;
  throw std::out_of_range(name);
}

// 100 rows: id (identifier), age 17..66, score -0.47..0.52, grade 1..10, job with '?', flat (constant), sick, note.
Table sample() {
  std::string text = "id,age,score,grade,job,flat,sick,note\n";
  for (int n = 0; n < 100; ++n)
    text += "p" + std::to_string(n) + "," + (n == 5 ? "?" : std::to_string(17 + n % 50)) + "," +
            std::to_string((n - 47) / 100.0) + "," + std::to_string(1 + n % 10) + "," +
            (n % 7 == 0   ? "?"
             : n % 2 == 0 ? "cook"
                          : "other") +
            ",x," + (n % 3 == 0 ? "yes" : "no") + "," + (n % 5 == 0 ? "" : "seen") + "\n";
  return parse_csv(text, "sample.csv");
}

TEST(Draft, GuessesKindsAndBounds) {
  const Schema s = drafted(sample());
  EXPECT_EQ(s.label, (Label{.column = "sick", .positive = {"yes"}, .negative = {"no"}})) << "note has missing cells";
  EXPECT_EQ(find(s, "id").kind, Kind::drop);
  EXPECT_EQ(find(s, "flat").kind, Kind::drop);
  EXPECT_EQ(find(s, "age"),
            (Column{.name = "age", .kind = Kind::numeric, .bounds = Bounds{10, 70}, .missing = Missing::middle}));
  EXPECT_EQ(find(s, "score").bounds, (Bounds{-0.5, 0.6}));
  EXPECT_EQ(find(s, "grade").categories, (std::vector<std::string>{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"}))
      << "sorted as numbers";
  EXPECT_EQ(find(s, "job"), (Column{.name = "job",
                                    .kind = Kind::categorical,
                                    .categories = {"cook"},
                                    .other = Other::bucket,
                                    .missing = Missing::other}));
  EXPECT_EQ(find(s, "note").categories, (std::vector<std::string>{"seen"}));
}

TEST(Draft, WarnsLoudlyBeforeAnythingElse) {
  const std::string text = draft_schema(sample());
  EXPECT_THAT(text, StartsWith("# ====="));
  const std::string head = text.substr(0, text.find("intercept ="));
  for (const char* part : {"DRAFT", "read off the rows of sample.csv", "this file is a leak", "publicly known",
                           "# Dropped: flat (the same in every row)",
                           "# Dropped: id (looks like an identifier: 100 values in 100 rows)", "guessed to be 'sick'"})
    EXPECT_THAT(head, HasSubstr(part));
}

TEST(Draft, IsKnownByItsMarkUntilThatIsDeleted) {
  const std::string text = draft_schema(sample());
  EXPECT_TRUE(is_draft(text));
  EXPECT_FALSE(is_draft(to_toml(parse_schema(text, "draft"))));
  EXPECT_TRUE(is_draft("intercept = true\n##  DRAFT\n"));
  EXPECT_FALSE(is_draft("# this was a DRAFT once\n[label]\ncolumn = \"DRAFT\"\n"));
}

TEST(Draft, WithoutATwoValuedColumnTheLastMeasuredOneIsARegressionTarget) {
  std::string text = "x,y\n";
  for (int n = 0; n < 30; ++n) text += std::to_string(n * 1000) + "," + std::to_string(n + 100) + "\n";
  const Schema s = drafted(parse_csv(text, "r.csv"));
  EXPECT_EQ(s.label.column, "y");
  EXPECT_EQ(s.label.bounds, (Bounds{100, 130}));
  EXPECT_EQ(s.columns[0].bounds, (Bounds{0, 30000}));
  EXPECT_THAT(message_of([] { draft_schema(parse_csv("a\n1\n2\n3\n", "r.csv")); }),
              HasSubstr("r.csv: no column can be the label"));
}

TEST(Draft, SurvivesHostileNamesAndNumbers) {
  Table t{.source = "a\n[label]\nb.csv", .columns = {"x\n\"]", "far", "near", "y"}, .cells = {}, .line = {}};
  for (int n = 0; n < 40; ++n) {
    t.cells.push_back({"v\"\\" + std::to_string(n % 3), "", std::to_string(n + 1) + "e-320", n % 2 == 0 ? "+" : "-"});
    t.cells.back()[1] = (n % 2 == 0 ? "0." : "-0.") + std::to_string(n % 13) + "e308";
    t.line.push_back(static_cast<std::size_t>(n) + 2);
  }
  const Schema s = drafted(t);
  EXPECT_EQ(s.columns[0].categories.size(), 3U);
  EXPECT_EQ(s.columns[1].kind, Kind::drop) << "max - min is infinite";
}

TEST(Draft, RandomTablesAlwaysEncodeByTheirDraft) {
  auto random = repeatable_random(11);
  const std::vector<std::string> words{"",    "?", "NA",        "other", "1",   "1.0", "-0",
                                       "1e5", "x", "M\xC3\xBC", "a b",   "nan", "+3"};
  for (int trial = 0; trial < 500; ++trial) {
    Table t{.source = "t.csv", .columns = {}, .cells = std::vector<std::vector<std::string>>(60), .line = {}};
    for (std::size_t n = 0; n < 60; ++n) t.line.push_back(n + 2);
    for (std::size_t i = 0; i < 5; ++i) {
      t.columns.push_back("c" + std::to_string(i));
      const auto kind = random() % 3;
      const double size = std::pow(10.0, static_cast<double>(random() % 40) - 20.0);
      for (auto& row : t.cells)
        row.push_back(kind == 0   ? words[random() % words.size()]
                      : kind == 1 ? std::to_string(random() % 3)
                                  : fmt::format("{}", (static_cast<double>(random()) - 2e9) * size));
    }
    t.columns.emplace_back("y");
    for (auto& row : t.cells) row.emplace_back(&row == &t.cells[0] || random() % 2 == 0 ? "no" : "yes");
    t.cells[1].back() = "yes";
    const Schema s = drafted(t);
    for (const auto& c : s.columns)
      if (c.kind == Kind::numeric) {
        const auto i = static_cast<std::size_t>(c.name[1] - '0');
        const Bounds b = c.bounds.value_or(Bounds{});
        for (const auto& row : t.cells) {
          const double x = std::stod(row[i]);
          ASSERT_TRUE(b.low <= x && x <= b.high) << row[i];
        }
      }
  }
}

}  // namespace
}  // namespace parley::data
