// Our scanner and loader against libcsv, against one another, and on damaged input.
#include "parley/base/csv.h"

#include <csv.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "parley/base/message_test.h"
#include "parley/base/text.h"
#include "parley/data/encode.h"
#include "parley/data/mutate_test.h"
#include "parley/data/named/census.h"
#include "parley/data/read/cell_number.h"
#include "parley/data/read/csv_blocks.h"
#include "parley/data/read/csv_scanner.h"
#include "parley/data/read/delimiter.h"
#include "parley/data/read/load_csv.h"
#include "parley/data/read/text_index.h"
#include "parley/data/table.h"

namespace parley::data {
namespace {

using testing::HasSubstr;
using FieldRows = std::vector<std::vector<std::string>>;

// What libcsv makes of it; nullopt: it refuses.
std::optional<FieldRows> by_libcsv(const std::string& text, const CsvLayout& layout) {
  struct Seen {
    FieldRows rows{{}};
  } seen;
  csv_parser parser{};
  csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI);
  csv_set_delim(&parser, static_cast<unsigned char>(layout.delimiter));
  if (!layout.trim) csv_set_space_func(&parser, [](unsigned char) { return 0; });
  const auto field = [](void* from, std::size_t size, void* to) {
    static_cast<Seen*>(to)->rows.back().emplace_back(static_cast<const char*>(from), size);
  };
  const auto row = [](int, void* to) { static_cast<Seen*>(to)->rows.emplace_back(); };
  const bool good = csv_parse(&parser, text.data(), text.size(), field, row, &seen) == text.size() &&
                    csv_fini(&parser, field, row, &seen) == 0;
  csv_free(&parser);
  if (!good) return std::nullopt;
  seen.rows.pop_back();
  return seen.rows;
}

// By our scanner, in pieces of `size` bytes.
std::optional<FieldRows> by_us(const std::string& text, const CsvLayout& layout, std::size_t size) {
  try {
    FieldRows rows;
    CsvBlocks blocks(text_bytes(text, "t"), layout.comment, size);
    CsvBlock block;
    while (blocks.next(block)) {
      CsvScanner scanner(block.text, block.first_line, layout, blocks.name());
      while (scanner.next()) rows.emplace_back(scanner.fields().begin(), scanner.fields().end());
    }
    return rows;
  } catch (const Error&) {
    return std::nullopt;
  }
}

TEST(CsvScanner, FindsTheFieldsThatLibcsvFindsInDamagedTextToo) {
  auto random = repeatable_random(1999);
  const std::string good =
      "age,job,note\r\n39,cook,\"a, b\"\n50,nurse,\"say \"\"hi\"\"\"\n\n41,\"two\nlines\",x\r\n 1 , \"2\" "
      ",3\n,,\n\"\",\" \",z";
  int parsed = 0, refused = 0;
  for (int i = 0; i < 30000; ++i) {
    std::string text = mutated(good, "\",\n\r a1;\t", random);
    std::erase(text, '\0');
    std::erase_if(text, [](char c) { return (c & 0x80) != 0; });
    const CsvLayout layout{.trim = i % 3 != 0, .delimiter = i % 5 == 0 ? ';' : i % 7 == 0 ? '\t' : ','};
    const auto theirs = by_libcsv(text, layout);
    const auto ours = by_us(text, layout, 1 + static_cast<std::size_t>(i) % 90);
    ASSERT_EQ(ours.has_value(), theirs.has_value()) << text;
    ++(ours ? parsed : refused);
    if (!ours) continue;
    const FieldRows& expected = *theirs;  // libcsv sees rows of one empty field in lines of blanks; we skip them
    ASSERT_EQ(*ours, expected) << text;
  }
  EXPECT_GT(parsed, 3000);
  EXPECT_GT(refused, 3000);
}

TEST(CsvBlocks, PiecesOfAnySizeKeepRowsWholeAndLinesCounted) {
  const std::string text = "\xEF\xBB\xBFy,x\r\n\"a\r\n1\",1\r\n\r\n\"a,\"\"\n\n2\",2\rb,3\n\"c\n\",\"4\"\r\nd,5";
  const Table whole = parse_csv(text, "t");
  EXPECT_EQ(whole.line, (std::vector<std::size_t>{2, 5, 8, 9, 11}));
  for (std::size_t size = 3; size < 60; ++size) {
    CsvBlocks blocks(text_bytes(text, "t"), 0, size);
    CsvBlock block;
    const CsvLayout layout;
    std::vector<std::size_t> lines;
    while (blocks.next(block)) {
      CsvScanner scanner(block.text, block.first_line, layout, blocks.name());
      while (scanner.next()) lines.push_back(scanner.place().line);
    }
    EXPECT_EQ(lines, (std::vector<std::size_t>{1, 2, 5, 8, 9, 11})) << size;
  }
}

std::string census_csv(std::size_t count) {
  const Table table = census_table(count, 1);
  std::string text = join(table.columns, ",") + "\n";
  for (const auto& row : table.cells) {
    for (std::size_t c = 0; c < row.size(); ++c) text += (c == 0 ? "" : ",") + csv_cell(row[c]);
    text += "\n";
  }
  return text;
}

Dataset load_text(const std::string& text, const Schema& schema, int threads, Watch watch = {}) {
  return load_csv(text_bytes(text, "mine.csv"), schema, {.threads = threads, .watch = std::move(watch)});
}

TEST(LoadCsv, GivesTheRowsThatTheTableGivesForAnyNumberOfThreads) {
  const Schema schema = parse_schema(census_schema(), "census");
  const std::string text = census_csv(60000);  // several waves
  const Dataset table = encode(parse_csv(text, "mine.csv"), schema, "m");
  for (const int threads : {1, 2, 3, 8}) {
    const Dataset loaded = load_text(text, schema, threads);
    EXPECT_EQ(loaded.rows.start, table.rows.start);
    EXPECT_EQ(loaded.rows.bytes(), table.rows.bytes()) << threads << " threads: the same bits";
    EXPECT_EQ(loaded.feature_names, table.feature_names);
    EXPECT_EQ(loaded.schema_toml, table.schema_toml);
  }
}

TEST(LoadCsv, TheFirstMistakeInTheFileIsToldForAnyNumberOfThreads) {
  const Schema schema = parse_schema(census_schema(), "census");
  const std::string text = census_csv(60000);
  const auto with = [&](std::vector<std::pair<std::size_t, std::string>> mistakes) {
    std::string damaged = text;
    for (auto m = mistakes.rbegin(); m != mistakes.rend(); ++m) {
      const std::size_t at = damaged.find('\n', m->first) + 1;
      damaged.insert(at, m->second + "\n");
    }
    return damaged;
  };
  const std::string ragged_then_quote = with({{4'000'000, "1,2"}, {5'000'000, "a\"b"}});
  const std::string quote_then_ragged = with({{1'000'000, "\"never closed"}, {5'000'000, "1,2"}});
  const std::string first = message_of([&] { load_text(ragged_then_quote, schema, 1); });
  const auto line =
      1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find('\n', 4'000'000)) + 1, '\n');
  EXPECT_THAT(first, HasSubstr("mine.csv:" + std::to_string(line) + ": the row has a wrong number of fields; got 2"));
  EXPECT_THAT(message_of([&] { load_text(quote_then_ragged, schema, 1); }), HasSubstr("never closed"));
  for (const int threads : {2, 5}) {
    EXPECT_EQ(message_of([&] { load_text(ragged_then_quote, schema, threads); }), first);
    EXPECT_EQ(message_of([&] { load_text(quote_then_ragged, schema, threads); }),
              message_of([&] { load_text(quote_then_ragged, schema, 1); }));
  }
}

TEST(LoadCsv, TellsHowFarItIsAndOnceThatItIsDone) {
  const Schema schema = parse_schema(census_schema(), "census");
  std::vector<Loaded> told;
  load_text(census_csv(60000), schema, 2, {.progress = [&](const Loaded& l) { told.push_back(l); }});
  ASSERT_GT(told.size(), 2U);
  EXPECT_TRUE(std::ranges::is_sorted(told, {}, &Loaded::rows));
  EXPECT_EQ(told.back().rows, 60000U);
  EXPECT_EQ(std::ranges::count(told, true, &Loaded::all), 1);
  EXPECT_TRUE(told.back().all);
}

const char* const small_schema =
    "[label]\ncolumn = 'y'\npositive = ['1']\nnegative = ['0']\n[[columns]]\nname = 'x'\nkind = 'numeric'\nbounds = "
    "[0, 9]\n";

TEST(LoadCsv, FindsTheDelimiterFromTheHeaderAndSaysSo) {
  const Schema schema = parse_schema(small_schema, "s");
  for (const auto& [mark, word] : {std::pair{";", "semicolon"}, {"\t", "tab"}, {"|", "pipe"}}) {
    const std::string text = "x" + std::string(mark) + "y\r\n3" + mark + "1\r\n";
    std::string note;
    const LoadPlan plan{.layout = {.delimiter = 0}, .watch = {.note = [&](const std::string& n) { note = n; }}};
    EXPECT_EQ(load_csv(text_bytes(text, "mine.csv"), schema, plan).rows.count(), 1U);
    EXPECT_EQ(note, "the fields of mine.csv are taken to be separated by " + std::string(word) +
                        " (its header line says so; --delimiter decides)");
  }
  EXPECT_EQ(found_delimiter("\"a;b;c\",y\n1;2;3;4;5\n", {}), ',') << "of the header, and not inside quotes";
  EXPECT_EQ(found_delimiter("1;2;3\n", {.header = false}), ',') << "rows are not looked at";
}

TEST(LoadCsv, TellsWhichShareOfAColumnIsClippedAtABoundForAnyNumberOfThreads) {
  const Schema schema = parse_schema(small_schema, "s");
  std::string text = "x,y\n";
  for (int i = 0; i < 200000; ++i)
    text += i % 8 == 0 ? "999,1\n" : i % 2 == 0 ? "9,0\n" : "0,0\n";  // bounds are inside
  for (const int threads : {1, 3}) {
    std::vector<std::string> told;
    load_text(text, schema, threads, {.warn = [&](const std::string& t) { told.push_back(t); }});
    ASSERT_EQ(told.size(), 1U);
    EXPECT_TRUE(told[0].starts_with("mine.csv, column 'x': 12.5 % of the cells lie beyond its bounds")) << told[0];
  }
  load_text("x,y\n9,1\n0,0\n", schema, 1, {.warn = [&](const std::string& t) { FAIL() << t; }});
}

TEST(LoadCsv, ARowOfOneFieldNamesTheDelimiterThatIsSuspected) {
  EXPECT_THAT(message_of([] { parse_csv("a,b\n1;2\n", "t"); }), HasSubstr("give --delimiter semicolon"));
  EXPECT_THAT(message_of([] { parse_csv("a,b\n1\n", "t"); }), HasSubstr("complete the row"));
}

TEST(Delimiter, IsAWordOrOneCharacterThatNoFieldNeeds) {
  EXPECT_EQ(delimiter_of("tab"), '\t');
  EXPECT_EQ(delimiter_of(";"), ';');
  EXPECT_EQ(delimiter_of("auto"), 0);
  for (const char* bad : {"\"", "ab", "", "\n", "5", "x", ".", "-"})
    EXPECT_THAT(message_of([&] { delimiter_of(bad); }), HasSubstr("this cannot separate fields")) << bad;
}

TEST(CellNumber, ThePlainOnesHaveTheBitsOfFromChars) {
  auto random = repeatable_random(7);
  int plain = 0;
  for (int i = 0; i < 200000; ++i) {
    std::string digits = std::to_string(random() % (i % 2 == 0 ? 1000 : 4'000'000'000U));
    if (i % 3 == 0) digits += std::to_string(random() % 100000);
    if (i % 4 != 0) digits.insert(random() % digits.size() + 1, ".");
    if (i % 5 == 0) digits.insert(0, "-");
    double x = 0;
    if (!plain_number(digits, x)) continue;
    ++plain;
    ASSERT_EQ(x, parse_number(digits, "x", "t")) << digits;
  }
  EXPECT_GT(plain, 100000);
  double x = 0;
  for (const char* other :
       {"", "-", ".", "1.", ".5", "1e3", "+1", " 1", "1 ", "1.2.3", "nan", "12345678901234567", "0x1"})
    EXPECT_FALSE(plain_number(other, x)) << other;
  EXPECT_TRUE(plain_number("-0", x) && std::signbit(x));
}

TEST(TextIndex, FindsEachOfManyTextsAndNoOther) {
  TextIndex index;
  for (int i = 0; i < 1000; ++i) index.add("prefix of all " + std::to_string(i) + " and their end", i);
  index.add("", 1000);
  index.add("", 1001);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(index.find("prefix of all " + std::to_string(i) + " and their end"), i);
  EXPECT_EQ(index.find(""), 1000);
  EXPECT_EQ(index.find("prefix of all"), TextIndex::absent);
  EXPECT_EQ(TextIndex().find("x"), TextIndex::absent);
}

}  // namespace
}  // namespace parley::data
