#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "parley/base/csv.h"
#include "parley/base/digest.h"
#include "parley/base/durable.h"
#include "parley/base/error.h"
#include "parley/base/log_line.h"
#include "parley/base/message_test.h"
#include "parley/base/options.h"
#include "parley/base/parallel.h"
#include "parley/base/printed.h"
#include "parley/base/text.h"
#include "parley/base/toml.h"
#include "parley/base/utf8.h"
#include "parley/base/word.h"

namespace parley {
namespace {

TEST(Text, NumbersReadBackAsTheSameDouble) {
  for (const double x : {0.1, 1.0 / 3, 1e-300, 5e-324, -1.7976931348623157e308, 11.884118447082104, 0.0})
    EXPECT_EQ(parse_number(number(x), "x", ""), x);
}

TEST(Text, ANumberMustBeTheWholeTextAndFinite) {
  EXPECT_EQ(parse_number(" +2.5 ", "x", ""), 2.5);
  for (const auto* text : {"", "nan", "inf", "-inf", "1.5x", "1,5", "1e999", "--1", "0x10"})
    EXPECT_NE(
        message_of([&] { parse_number(text, "penalty", "run.toml:3"); }).find("run.toml:3: penalty is not a number"),
        std::string::npos)
        << text;
}

TEST(Text, ADecimalCommaIsToldAsSuch) {
  const auto message = [](const char* text) { return message_of([&] { parse_number(text, "age", "a.csv:3"); }); };
  EXPECT_NE(message(" 3,5").find("a decimal number has a point: write 3.5"), std::string::npos);
  for (const char* text : {"3,5,1", "a,5", ",", "old"})
    EXPECT_NE(message(text).find("write a number there"), std::string::npos) << text;
}

TEST(Text, TheNearestNameIsOfferedOnlyWhenItIsNear) {
  const std::vector<std::string> names = {"penalty", "damping", "noise-rate"};
  EXPECT_EQ(nearest("pnalty", names), "penalty");
  EXPECT_EQ(nearest("noise-rat", names), "noise-rate");
  EXPECT_EQ(nearest("pen", names), "penalty");
  EXPECT_EQ(nearest("completely-else", names), "");
  EXPECT_EQ(nearest("y", {"0", "x"}), "") << "any letter is near any other";
}

TEST(Text, AFileIsWrittenWholeOrNotAtAll) {
  const auto folder = std::filesystem::temp_directory_path() / "parley-base-test";
  std::filesystem::create_directories(folder);
  write_file(folder / "a.txt", "one");
  write_file(folder / "a.txt", "two");
  EXPECT_EQ(read_file(folder / "a.txt", "it"), "two");
  EXPECT_FALSE(std::filesystem::exists(folder / "a.txt.part"));
  EXPECT_NE(message_of([&] { write_file(folder / "missing" / "a.txt", "x"); }).find("cannot write"), std::string::npos);
  EXPECT_NE(
      message_of([&] { read_file(folder / "nothing", "the model"); }).find("the model cannot be read: No such file"),
      std::string::npos);
  EXPECT_NE(message_of([&] { read_file(folder, "the model"); }).find("is a directory"), std::string::npos);
  std::filesystem::remove_all(folder);
}

enum class Shape { ring, star };
constexpr Words<Shape, 2> words(Shape) {
  return {{{"ring", Shape::ring}, {"star", Shape::star}}};
}
enum class Pace { common, penalty, numbers };
constexpr Words<Pace, 3> words(Pace) {
  return {{{"common", Pace::common}, {"penalty", Pace::penalty}, {"", Pace::numbers}}};
}

struct Sample {
  bool flag = false;
  long count = 3;
  double rate = 0.5;
  Choice<Shape> word = Shape::ring;
  std::vector<double> list{1};
  std::optional<std::uint64_t> seed;
  Choice<Pace> step = Pace::common;
};
std::vector<Option> rows(Sample& s) {
  return {{"flag", "", "", any_text("yes, no"), &s.flag},
          {"count", "", "", at_least(1), &s.count},
          {"rate", "", "", above(0), &s.rate},
          {"word", "", "", one_of(s.word), &s.word.text},
          {"list", "", "", between(0, 9), &s.list},
          {"seed", "", "", at_least(0), &s.seed},
          {"step", "", "", one_of_or(s.step, "numbers", above(0)), &s.step.text}};
}

TEST(Choice, IsReadAsItsEnumAndKeptAsTyped) {
  Sample s;
  EXPECT_EQ(s.word, Shape::ring);
  set_option(find_option(rows(s), "word", ""), "star", "");
  EXPECT_EQ(s.word, Shape::star);
  EXPECT_EQ(option_value(find_option(rows(s), "word", "")), "star");
  s.word = Shape::ring;
  EXPECT_EQ(s.word.text, "ring");
  set_option(find_option(rows(s), "step", ""), "0.5, 1", "");
  EXPECT_EQ(s.step, Pace::numbers);
  EXPECT_EQ(s.step.text, "0.5, 1");
  EXPECT_EQ(find_option(rows(s), "step", "").rule.text, "common, penalty, or numbers > 0");
}

TEST(Choice, RefusesToStandForAnythingWhenItsWordIsUnknown) {
  const Choice<Shape> typed = "rign";
  EXPECT_NE(message_of([&] { static_cast<void>(static_cast<Shape>(typed)); }).find("did you mean 'ring'"),
            std::string::npos);
}

TEST(Options, AreReadFromTextAndJsonAlike) {
  Sample a, b;
  for (const auto& [name, text, json] : std::vector<std::tuple<std::string, std::string, nlohmann::json>>{
           {"flag", "yes", true},
           {"count", "7", 7},
           {"rate", "1e-3", 1e-3},
           {"word", "star", "star"},
           {"list", "1, 2,3", {1, 2, 3}},
           {"seed", "18446744073709551615", 18446744073709551615U}}) {
    set_option(find_option(rows(a), name, ""), text, "");
    set_option_json(find_option(rows(b), name, ""), json, "");
  }
  const auto values_a = rows(a), values_b = rows(b);
  for (std::size_t i = 0; i < values_a.size(); ++i)
    EXPECT_EQ(option_value(values_a[i]), option_value(values_b[i])) << values_a[i].name;
  EXPECT_EQ(a.list, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(a.seed, 18446744073709551615U);
}

TEST(Options, EveryValueSurvivesARoundTripThroughTheRecord) {
  Sample a, b;
  a.list = {1, 0.1, 1.0 / 3};
  a.seed = 42;
  const auto from = rows(a), to = rows(b);
  for (std::size_t i = 0; i < from.size(); ++i) set_option_json(to[i], option_value(from[i]), "");
  EXPECT_EQ(a.list, b.list);
  EXPECT_EQ(a.seed, b.seed);
}

TEST(Options, AllViolationsAreToldAtOnce) {
  Sample s;
  s.count = 0;
  s.rate = -2;
  s.word = "rign";
  s.step = "0";
  const std::string text = message_of([&] { validate_options(rows(s)); });
  EXPECT_NE(text.find("count = 0 but must be >= 1"), std::string::npos) << text;
  EXPECT_NE(text.find("rate = -2 but must be > 0"), std::string::npos) << text;
  EXPECT_NE(text.find("did you mean 'ring'?"), std::string::npos) << text;
  EXPECT_NE(text.find("option --step"), std::string::npos) << text;
}

TEST(Options, AWordOrNumbersMayStandTogether) {
  Sample s;
  for (const auto* good : {"common", "penalty", "0.5", "0.5,1"}) {
    s.step = good;
    EXPECT_NO_THROW(validate_options(rows(s))) << good;
  }
  s.step = "commn";
  EXPECT_THROW(validate_options(rows(s)), Error);
}

TEST(Options, AnUnknownNameOffersTheNearest) {
  Sample s;
  EXPECT_NE(message_of([&] { find_option(rows(s), "coutn", "run.toml:4"); }).find("did you mean 'count'?"),
            std::string::npos);
}

TEST(Errors, KeepTheirFieldsAndTheirCode) {
  constexpr ErrorCode in_use{"in_use"}, other{"other"};
  const Error::Fields one{.what = "penalty must be > 0",
                          .value = "-2",
                          .allowed = "a number > 0",
                          .where = "option --penalty",
                          .fix = "give a positive number"};
  const Error both({one, {.what = "it is in use", .where = "my.ledger", .code = in_use}});
  EXPECT_STREQ(both.what(),
               "option --penalty: penalty must be > 0; got -2; allowed: a number > 0\n"
               "  what to do: give a positive number\n"
               "my.ledger: it is in use");
  ASSERT_EQ(both.fields().size(), 2U);
  EXPECT_EQ(both.fields()[0].fix, one.fix);
  EXPECT_EQ(both.fields()[1].where, "my.ledger");
  EXPECT_TRUE(both.is(in_use));
  EXPECT_FALSE(both.is(other));
  EXPECT_EQ(both.brief(), "option --penalty: penalty must be > 0; got -2; allowed: a number > 0");
  EXPECT_EQ(Error(one).in_one_line(),
            "option --penalty: penalty must be > 0; got -2; allowed: a number > 0; what to do: give a positive number");
  static_assert(std::is_nothrow_copy_constructible_v<Error>);
}

TEST(Parallel, RunsEveryIndexOnceAndTellsTheLowestFailure) {
  for (const int threads : {1, 2, 7}) {
    std::vector<std::atomic<int>> hits(100);
    parallel_for(100, threads, [&](int i) { ++hits[static_cast<std::size_t>(i)]; });
    for (const auto& h : hits) EXPECT_EQ(h, 1);
    EXPECT_EQ(message_of([&] {
                parallel_for(100, threads, [](int i) {
                  if (i % 40 == 3) throw Error({.what = "failed at " + std::to_string(i)});
                });
              }),
              "failed at 3");
  }
}

// [RFC 4180], and what a spreadsheet would run.
TEST(Csv, CellsAreNeitherFormulasNorSeveralCells) {
  EXPECT_EQ(csv_cell("=1+2"), "=1+2");  // data is data
  EXPECT_EQ(csv_cell(" a"), "\" a\"");
  EXPECT_EQ(csv_quoted("a\"b"), "\"a\"\"b\"");
  EXPECT_EQ(spreadsheet_cell("=1+2"), "'=1+2");
  EXPECT_EQ(spreadsheet_cell("@SUM(A1)"), "'@SUM(A1)");
  EXPECT_EQ(spreadsheet_cell("-1\"x,y"), "\"'-1\"\"x,y\"");
  EXPECT_EQ(spreadsheet_cell("a\nb"), "\"a\nb\"");
  EXPECT_EQ(spreadsheet_cell("plain"), "plain");
}

TEST(Utf8, WellFormedAndNothingElse) {
  for (const char* good : {"", "abc", "ε ≤ 1", "\xF0\x9F\x98\x80", "\xEF\xBF\xBD"}) EXPECT_TRUE(is_utf8(good)) << good;
  for (const char* bad : {"\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\xFF", "a\x80"})
    EXPECT_FALSE(is_utf8(bad)) << bad;
  EXPECT_EQ(utf8_at("aε", 1).code, U'ε');
  EXPECT_EQ(utf8_at("a", 1).length, 0U);
}

TEST(Digest, HexadecimalBothWays) {
  EXPECT_EQ(hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(from_hex(hex(std::string_view("\0\xFFq", 3))), std::string("\0\xFFq", 3));
  for (const char* bad : {"0", "0g", "AB", "+1", " 1"}) EXPECT_FALSE(from_hex(bad)) << bad;
  EXPECT_TRUE(is_hex("0af9", 4));
  EXPECT_FALSE(is_hex("0af9", 3));
}

// One rule: what is printed, read back, is never below; and it is the smallest such number of four digits.
TEST(Printed, EpsilonIsNeverBelowAndNoLargerThanItMustBe) {
  EXPECT_EQ(printed_epsilon(1), "1.0000");
  EXPECT_EQ(printed_epsilon(std::nextafter(1.0, 2.0)), "1.0001");
  EXPECT_EQ(printed_epsilon(0.99991), "1.0000");
  EXPECT_EQ(printed_epsilon(0), "0.0000");
  EXPECT_EQ(printed_epsilon(1e-9), "0.0001");
  EXPECT_EQ(printed_epsilon(0.0007), "0.0007");  // 0.0007 · 10⁴ is above 7 in doubles
  EXPECT_EQ(printed_epsilon(INFINITY), "infinite");
  EXPECT_EQ(printed_epsilon(NAN), "–");
  for (int i = 1; i < 200000; i += 7) {
    const double exact = i / 1e4;
    for (const double e : {exact, std::nextafter(exact, 0.0), std::nextafter(exact, 1e9), exact + 3e-5}) {
      const double printed = std::stod(printed_epsilon(e));
      ASSERT_GE(printed, e) << i;
      ASSERT_LT(printed - 1.0000001e-4, e) << i;
      ASSERT_EQ(printed, printed_epsilon_value(e)) << i;
    }
    ASSERT_EQ(std::stod(printed_epsilon(exact)), exact) << i;
  }
  for (const double e : {1e9, 1e12 + 0.25, 1e300}) EXPECT_GE(std::stod(printed_epsilon(e)), e);
}

TEST(Options, AValueIsShownToAnyoneWhereItsRowSaysSoAndEveryWordIsTheRowsOwn) {
  std::string word, file, graph, step;
  std::vector<double> numbers;
  Rule rule = above(0);
  rule.choices = {"auto"};
  rule.words_too = true;
  const std::vector<Option> rows = {
      {"word", "", "", one_of({"a", "b"}), &word, "", Shown::to_anyone},
      {"file", "", "", any_text("a file"), &file, ""},
      {"graph", "", "", any_text("a shape or a file", {"ring"}), &graph, "", Shown::to_anyone},
      {"step", "", "", rule, &step, "", Shown::to_anyone},
      {"numbers", "", "", above(0), &numbers, "", Shown::to_anyone}};
  using nlohmann::json;
  for (const auto& [name, value] : std::vector<std::pair<std::string, json>>{{"word", "a"},
                                                                             {"word", ""},
                                                                             {"word", nullptr},
                                                                             {"graph", "ring"},
                                                                             {"step", "auto"},
                                                                             {"step", "0.5,1e-3"},
                                                                             {"numbers", {1, 2.5}},
                                                                             {"numbers", 3}})
    EXPECT_TRUE(may_be_shown(rows, name, value)) << name << value;
  for (const auto& [name, value] : std::vector<std::pair<std::string, json>>{{"word", "patients"},
                                                                             {"file", ""},
                                                                             {"file", 3},
                                                                             {"graph", "my-edges.txt"},
                                                                             {"step", "0.5,x"},
                                                                             {"numbers", {{1}}},
                                                                             {"numbers", {{"a", 1}}},
                                                                             {"unheard-of", 1}})
    EXPECT_FALSE(may_be_shown(rows, name, value)) << name << value;
}

TEST(Toml, WhatIsNoValueOfAnOptionIsRefused) {
  const auto root = parse_toml("a = [1, 2.5]\nb = 1979-05-27\nc = [[1]]\nd = true\ne = 'x'", "f");
  EXPECT_EQ(toml_value(*root.get("a"), "f:1"), nlohmann::json({1, 2.5}));
  EXPECT_EQ(toml_value(*root.get("d"), "f"), true);
  EXPECT_EQ(toml_value(*root.get("e"), "f"), "x");
  EXPECT_THROW(toml_value(*root.get("b"), "f:2"), Error);
  EXPECT_THROW(toml_value(*root.get("c"), "f:3"), Error);
}

TEST(Durable, AFileIsMadeOnceAndKeptWhole) {
  const auto folder = std::filesystem::temp_directory_path() / "parley-durable-test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  EXPECT_TRUE(create_file(folder / "key", "secret", 0600));
  EXPECT_FALSE(create_file(folder / "key", "other", 0600));
  EXPECT_EQ(errno, EEXIST);
  EXPECT_EQ(read_file(folder / "key", "the key"), "secret");
  write_private_file(folder / "key", "new");
  EXPECT_EQ(read_file(folder / "key", "the key"), "new");
  EXPECT_EQ(std::filesystem::status(folder / "key").permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  EXPECT_NO_THROW(sync_files(folder));
  EXPECT_TRUE(sync_folder_of(folder / "key"));
  EXPECT_THROW(sync_files(folder / "none"), std::exception);
  std::filesystem::remove_all(folder);
}

TEST(Log, ALineHasTheTimeALevelAndThePeerThatIsMeant) {
  const std::chrono::sys_seconds now{std::chrono::seconds(1772366405)};
  EXPECT_EQ(iso_time(now), "2026-03-01T12:00:05Z");
  EXPECT_EQ(logged({"b has not answered", Level::warning, "b"}, now),
            "2026-03-01T12:00:05Z warning b: b has not answered");
  EXPECT_EQ(logged(std::string("begun"), now), "2026-03-01T12:00:05Z info: begun");
}

TEST(Digest, IsReadAloudInGroupsOfFour) {
  EXPECT_EQ(in_fours("63eecabe01"), "63ee cabe 01");
  EXPECT_EQ(in_fours(hex(sha256(""))).size(), 79U);
}

TEST(InUse, IsInPlaceUntilItsPathLeadsElsewhere) {
  const auto folder = std::filesystem::temp_directory_path() / "parley-in-use-test";
  std::filesystem::create_directories(folder / "out");
  write_file(folder / "out/file", "x");
  const InUse out(folder / "out"), file(folder / "out/file");
  EXPECT_TRUE(out.in_place() && file.in_place());
  write_file(folder / "out/file", "x");
  EXPECT_TRUE(out.in_place());
  EXPECT_FALSE(file.in_place()) << "another file of the same name";
  std::filesystem::rename(folder / "out", folder / "moved");
  EXPECT_FALSE(out.in_place());
  std::filesystem::create_directories(folder / "out");
  EXPECT_FALSE(out.in_place());
  EXPECT_FALSE(InUse(folder / "none").in_place());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace parley
