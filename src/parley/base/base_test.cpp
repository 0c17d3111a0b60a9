#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "parley/base/error.h"
#include "parley/base/message_test.h"
#include "parley/base/options.h"
#include "parley/base/parallel.h"
#include "parley/base/text.h"

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

TEST(Text, TheNearestNameIsOfferedOnlyWhenItIsNear) {
  const std::vector<std::string> names = {"penalty", "damping", "noise-rate"};
  EXPECT_EQ(nearest("pnalty", names), "penalty");
  EXPECT_EQ(nearest("noise-rat", names), "noise-rate");
  EXPECT_EQ(nearest("completely-else", names), "");
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

struct Sample {
  bool flag = false;
  long count = 3;
  double rate = 0.5;
  std::string word = "ring";
  std::vector<double> list{1};
  std::optional<std::uint64_t> seed;
  std::string step = "common";
};
std::vector<Option> rows(Sample& s) {
  Rule step = above(0);
  step.choices = {"common", "penalty"};
  step.words_too = true;
  return {{"flag", "", "", any_text("yes, no"), &s.flag},
          {"count", "", "", at_least(1), &s.count},
          {"rate", "", "", above(0), &s.rate},
          {"word", "", "", one_of({"ring", "star"}), &s.word},
          {"list", "", "", between(0, 9), &s.list},
          {"seed", "", "", at_least(0), &s.seed},
          {"step", "", "", step, &s.step}};
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
  const Error::Parts one{.what = "penalty must be > 0",
                         .value = "-2",
                         .allowed = "a number > 0",
                         .where = "option --penalty",
                         .fix = "give a positive number"};
  const Error both({one, {.what = "it is in use", .where = "my.ledger", .code = in_use}});
  EXPECT_STREQ(both.what(),
               "option --penalty: penalty must be > 0; got -2; allowed: a number > 0\n"
               "  what to do: give a positive number\n"
               "my.ledger: it is in use");
  ASSERT_EQ(both.parts().size(), 2U);
  EXPECT_EQ(both.parts()[0].fix, one.fix);
  EXPECT_EQ(both.parts()[1].where, "my.ledger");
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

}  // namespace
}  // namespace parley
