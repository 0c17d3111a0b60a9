#include "parley/data/table.h"

#include <algorithm>
#include <filesystem>
#include <random>

#include "parley/base/csv.h"
#include "parley/base/message_test.h"
#include "parley/base/text.h"
#include "parley/data/mutate_test.h"

namespace parley::data {
namespace {

using Cells = std::vector<std::vector<std::string>>;
using testing::HasSubstr;

Table table_of(std::string_view text, const CsvLayout& layout = {}) {
  return parse_csv(text, "mine.csv", layout);
}
std::string table_failure(std::string_view text, const CsvLayout& layout = {}) {
  return message_of([&] { table_of(text, layout); });
}

TEST(Csv, ReadsHeaderAndRowsWithTheirLines) {
  const Table t = table_of("age,job\n39,cook\n50,nurse\n");
  EXPECT_EQ(t.source, "mine.csv");
  EXPECT_EQ(t.columns, (std::vector<std::string>{"age", "job"}));
  EXPECT_EQ(t.cells, (Cells{{"39", "cook"}, {"50", "nurse"}}));
  EXPECT_EQ(t.line, (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(place(t, 1), "mine.csv:3");
}

TEST(Csv, QuotedFieldsHoldCommasQuotesAndLineEnds) {
  const Table t = table_of("a,b\n\"x, y\",\"say \"\"hi\"\"\"\n\"one\ntwo\r\nthree\",2\n3,4\n");
  EXPECT_EQ(t.cells, (Cells{{"x, y", "say \"hi\""}, {"one\ntwo\r\nthree", "2"}, {"3", "4"}}));
  EXPECT_EQ(t.line, (std::vector<std::size_t>{2, 3, 6})) << "the row after a quoted line end knows its real line";
}

TEST(Csv, LineEndsMayBeCrLfOrCrOrMissingAtTheEnd) {
  for (const char* text :
       {"a,b\n1,2\n3,4\n", "a,b\r\n1,2\r\n3,4\r\n", "a,b\r1,2\r3,4\r", "a,b\n1,2\n3,4", "a,b\r\n1,2\r\n3,4"}) {
    const Table t = table_of(text);
    EXPECT_EQ(t.cells, (Cells{{"1", "2"}, {"3", "4"}})) << text;
    EXPECT_EQ(t.line, (std::vector<std::size_t>{2, 3})) << text;
  }
}

TEST(Csv, ByteOrderMarkBlankLinesAndCommentsAreSkippedButCounted) {
  const Table t =
      table_of("\xEF\xBB\xBF|1x3 Cross validator\n\na,b\n \t\n1,2\n|note\n\n\"|3\",\"4\n|5\"\n", {.comment = '|'});
  EXPECT_EQ(t.columns, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(t.cells, (Cells{{"1", "2"}, {"|3", "4\n|5"}})) << "inside quotes nothing is a comment";
  EXPECT_EQ(t.line, (std::vector<std::size_t>{5, 8}));
  EXPECT_EQ(table_of("\xEF\xBB\xBF\"a\"\n1\n").columns[0], "a") << "a quoted first name after the mark";
}

TEST(Csv, TrimsUnquotedFieldsUnlessToldNotTo) {
  EXPECT_EQ(table_of(" a , b \n 1 ,\" 2 \"\n").cells, (Cells{{"1", " 2 "}}));
  EXPECT_EQ(table_of(" a , b \n 1 , 2 \n").columns, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(table_of("a,b\n 1 , 2\n", {.trim = false}).cells, (Cells{{" 1 ", " 2"}}));
}

TEST(Csv, EmptyFieldsAreKept) {
  EXPECT_EQ(table_of("a,b,c\n,,\n1,,\"\"\n").cells, (Cells{{"", "", ""}, {"1", "", ""}}));
}

TEST(Csv, WithoutHeaderTheNamesComeFromTheLayoutOrAreCounted) {
  const Table named = table_of("1,2\n3,4\n", {.header = false, .columns = {"a", "b"}});
  EXPECT_EQ(named.columns, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(named.line, (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(table_of("1,2\n", {.header = false}).columns, (std::vector<std::string>{"c1", "c2"}));
  EXPECT_THAT(table_failure("1,2,3\n", {.header = false, .columns = {"a", "b"}}), HasSubstr("mine.csv:1: "));
  EXPECT_THAT(table_failure("a\n1\n", {.columns = {"a"}}), HasSubstr("has a header"));
  EXPECT_THAT(table_failure("1,2\n", {.header = false, .columns = {"a", "a"}}), HasSubstr("same name"));
}

TEST(Csv, ARaggedRowNamesLineFoundAndExpected) {
  EXPECT_EQ(table_failure("a,b\n\"1\n1\",2\n1,2,3\n"),
            "mine.csv:4: the row has a wrong number of fields; got 3; allowed: 2, as there are columns\n"
            "  what to do: complete the row; put quotes around a field that holds a comma, and write "
            "decimal numbers with a point");
  EXPECT_THAT(table_failure("a,b\n1\n"),
              HasSubstr("mine.csv:2: the row has a wrong number of fields; got 1; allowed: 2"));
  EXPECT_THAT(table_failure("a,b\n1,2,\n"), HasSubstr("got 3"));
}

TEST(Csv, BadQuotingIsAnErrorAtTheRowItStartsIn) {
  EXPECT_THAT(table_failure("a,b\n1,2\n1,x\"y\n"), HasSubstr("mine.csv:3: a quote stands where none may stand"));
  EXPECT_THAT(table_failure("a,b\n\"1\"x,2\n"), HasSubstr("mine.csv:2: a quote stands"));
  EXPECT_THAT(table_failure("a,b\n1,2\n1,\"never\nclosed\n"), HasSubstr("mine.csv:3: a quoted field is never closed"));
}

TEST(Csv, HeaderNamesMustExistAndDiffer) {
  EXPECT_THAT(table_failure("\na,b,a\n1,2,3\n"), HasSubstr("mine.csv:2: two columns have the same name; got 'a'"));
  EXPECT_THAT(table_failure("a,,c\n1,2,3\n"), HasSubstr("mine.csv:1: column 2 has no name"));
}

TEST(Csv, EmptyFilesAndFilesWithoutRowsAreErrors) {
  EXPECT_THAT(table_failure(""), HasSubstr("mine.csv: the file is empty"));
  EXPECT_THAT(table_failure("\xEF\xBB\xBF\n\n"), HasSubstr("the file is empty"));
  EXPECT_THAT(table_failure("a,b\n"), HasSubstr("mine.csv: the file has no rows"));
}

TEST(Csv, BytesThatAreNotUtf8AreAnErrorWithTheirLine) {
  EXPECT_EQ(table_of("a\nM\xC3\xBCller \xE2\x82\xAC \xF0\x9F\x98\x80\n").cells[0][0],
            "M\xC3\xBCller \xE2\x82\xAC \xF0\x9F\x98\x80");
  for (const char* bad :
       {"M\xFCller", "\xC0\xAF", "\xED\xA0\x80", "\xF5\x80\x80\x80", "\xE2\x82", "\x80", "\xE0\x80\x80"})
    EXPECT_THAT(table_failure("a\nb\n" + std::string(bad) + "\n"), HasSubstr("mine.csv:3: the file is not UTF-8"))
        << bad;
  EXPECT_THAT(table_failure(std::string_view("a\n1\0002\n", 6)), HasSubstr("mine.csv:2: the file is not UTF-8"));
}

TEST(Csv, ReadsFromDiskAndNamesTheFileThatIsMissing) {
  const auto path = std::filesystem::temp_directory_path() / "parley_table_test.csv";
  write_file(path, "a,b\n1,2\n");
  EXPECT_EQ(read_csv(path, {}).cells, (Cells{{"1", "2"}}));
  EXPECT_EQ(read_csv(path, {}).source, path.string());
  std::filesystem::remove(path);
  EXPECT_THAT(message_of([&] { read_csv(path, {}); }), HasSubstr(path.string()));
}

TEST(Csv, DamagedInputIsParsedOrRefusedButNothingElse) {
  auto random = repeatable_random(4180);
  const std::string good =
      "age,job,note\r\n39,cook,\"a, b\"\n50,nurse,\"say \"\"hi\"\"\"\n|skip\n\n41,\"two\nlines\",x\n";
  int parsed = 0, refused = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::string text = mutated(good, "\",\n\r |a1\t", random);
    try {
      const Table t = table_of(text, {.header = i % 3 != 0, .comment = i % 2 == 0 ? '|' : '\0', .trim = i % 5 != 0});
      ++parsed;
      ASSERT_EQ(t.cells.size(), t.line.size());
      for (const auto& row : t.cells) ASSERT_EQ(row.size(), t.columns.size());
      ASSERT_EQ(std::ranges::adjacent_find(t.line, std::ranges::greater_equal{}), t.line.end());
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(parsed, 500);
  EXPECT_GT(refused, 1000);
}

TEST(Csv, ACellThatIsWrittenReadsBack) {
  const std::vector<std::string> cells = {"plain", "a,b", "say \"hi\"", "two\nlines", " blank ", "t\t", "M\xC3\xBC"};
  for (const auto& cell : cells) EXPECT_EQ(parse_csv("x,y\n1," + csv_cell(cell) + "\n", "t").cells[0][1], cell);
  EXPECT_EQ(csv_cell("plain"), "plain");
}

}  // namespace
}  // namespace parley::data
