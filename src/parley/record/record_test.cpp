#include "parley/record/record.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/record/files.h"
#include "parley/record/round.h"
#include "parley/record/schema.h"
#include "parley/record/void_claims.h"

namespace parley::record {
namespace {

using nlohmann::json;
using namespace std::string_literals;

class RecordTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove_all(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_ = std::filesystem::temp_directory_path() / "parley-record-test";
  json run_ = {{"released", {{"nodes", 2}, {"size", 3}}}, {"outcome", "running"}};
};

void append(Writer& writer, const json& line, const std::vector<const Vector*>& values) {
  writer.append_values(values);
  writer.append_line(line);
}

TEST_F(RecordTest, IsReadableAfterEveryRoundAndBitExact) {
  Writer writer(folder_, run_);
  Vector a(3), b(3);
  a << 0.1, -1.0 / 3, 5e-324;
  b << 1, 2, 3;
  for (int round = 0; round < 3; ++round) {
    const std::vector<const Vector*> both = {&a, &b};
    append(writer, {{"round", round}}, both);
    const Record record = read(folder_);
    ASSERT_EQ(record.released.size(), static_cast<std::size_t>(round) + 1);
    EXPECT_EQ(record.released[static_cast<std::size_t>(round)][0], a);
    EXPECT_EQ(record.released[static_cast<std::size_t>(round)][1], b);
  }
}

TEST_F(RecordTest, AHalfWrittenLastRoundIsLeftOut) {
  const Vector a = Vector::Ones(3);
  {
    Writer writer(folder_, run_);
    const std::vector<const Vector*> both = {&a, &a};
    append(writer, {{"round", 0}}, both);
    append(writer, {{"round", 1}}, both);
  }
  std::filesystem::resize_file(folder_ / "released.f64", 2 * 2 * 3 * 8 - 5);
  EXPECT_THROW(read(folder_), Error);  // a line without its value is nothing that a kill leaves
  const std::string lines = read_file(folder_ / "rounds.jsonl", "lines");
  std::filesystem::resize_file(folder_ / "rounds.jsonl", lines.size() - 3);
  EXPECT_EQ(read(folder_).released.size(), 1U);
  EXPECT_EQ(read(folder_).lines.size(), 1U);
}

TEST_F(RecordTest, AValueWithoutItsLineIsKept) {  // others may have heard of it
  const Vector a = Vector::Ones(3);
  const std::vector<const Vector*> both = {&a, &a};
  {
    Writer writer(folder_, run_);
    append(writer, {{"round", 0}}, both);
    writer.append_values(both);
  }
  EXPECT_EQ(read(folder_).kept().values, 2);
  EXPECT_EQ(read(folder_).kept().lines, 1);
}

TEST_F(RecordTest, GoesOnAfterTheRoundsThatAreWhole) {
  const Vector a = Vector::Ones(3), b = Vector::Constant(3, 2);
  const std::vector<const Vector*> first = {&a, &a}, other = {&b, &b};
  {
    Writer writer(folder_, run_);
    for (int round = 0; round < 3; ++round) append(writer, {{"round", round}}, first);
  }
  const std::string lines = read_file(folder_ / "rounds.jsonl", "lines");
  // The last line lacks nothing but its end: whether it was whole cannot be told.
  std::filesystem::resize_file(folder_ / "rounds.jsonl", lines.size() - 1);
  ASSERT_EQ(read(folder_).kept().values, 3);
  ASSERT_EQ(read(folder_).kept().lines, 2);
  {
    Writer writer(folder_, run_, read(folder_).kept());
    writer.append_line({{"round", 2}});
    append(writer, {{"round", 3}}, other);
  }
  EXPECT_EQ(read_file(folder_ / "rounds.jsonl", "lines").substr(0, lines.size()), lines);
  const Record record = read(folder_);
  ASSERT_EQ(record.released.size(), 4U);
  EXPECT_EQ(record.released[2][1], a);
  EXPECT_EQ(record.released[3][0], b);
}

TEST_F(RecordTest, KilledBeforeItsFirstRoundItIsARecordWithoutRounds) {
  {
    const Writer writer(folder_, run_);
  }
  for (const char* name : {"released.f64", "rounds.jsonl"}) {
    std::filesystem::remove(folder_ / name);
    EXPECT_TRUE(read(folder_).released.empty());
  }
  const Vector a = Vector::Ones(3);
  {
    Writer writer(folder_, run_, Kept{});
    const std::vector<const Vector*> both = {&a, &a};
    append(writer, {{"round", 0}}, both);
  }
  EXPECT_EQ(read(folder_).released.size(), 1U);
  std::filesystem::remove(folder_ / "released.f64");  // rounds without their values: not what a kill leaves
  EXPECT_THROW(read(folder_), Error);
}

TEST_F(RecordTest, SaysThatARunIsUnfinishedAndHowToGoOn) {
  const auto said = [&] {
    try {
      check_vacant(folder_);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(said(), "");
  {
    Writer writer(folder_, run_);
    EXPECT_NE(said().find("holds an unfinished run"), std::string::npos);
    EXPECT_NE(said().find("with --resume"), std::string::npos);
    run_["outcome"] = "completed";
    writer.finish(run_, json());
  }
  EXPECT_NE(said().find("not empty"), std::string::npos);
  EXPECT_EQ(said().find("--resume"), std::string::npos);
}

TEST_F(RecordTest, NeverOverwritesAndTellsWhatIsNoRecord) {
  {
    const Writer writer(folder_, run_);
  }
  EXPECT_THROW(Writer(folder_, run_), Error);
  EXPECT_THROW(Writer("/proc/nowhere", run_), Error);
  write_file(folder_ / "run.json", "{\"nodes\": 0, \"features\": 3}");
  EXPECT_THROW(read(folder_), Error);
  write_file(folder_ / "run.json", "[1, 2");
  EXPECT_THROW(read(folder_), Error);
  EXPECT_THROW(read(folder_ / "missing"), Error);
}

TEST_F(RecordTest, NoHeaderMakesItsReaderFail) {  // records come from others: nodes · size · 8 must not wrap around
  std::filesystem::create_directories(folder_);
  const std::string deep(100000, '[');
  for (const std::string& text :
       {R"({"released": {"nodes": 4294967296, "size": 4294967296}})"s,
        R"({"released": {"nodes": 2305843009213693952, "size": 1}})"s, R"({"released": {"nodes": -1, "size": 3}})"s,
        R"({"released": {"nodes": "2", "size": 3}})"s, R"({"released": {"nodes": 2, "size": 3, "first": 1e300}})"s,
        R"({"released": 5})"s, R"([1])"s, R"({"released": )"s + deep, "{\"outcome\": " + deep}) {
    write_file(folder_ / "run.json", text);
    EXPECT_THROW(read(folder_), Error) << text.substr(0, 80);
  }
}

TEST_F(RecordTest, OneProcessWorksOnARunAtATime) {
  std::filesystem::create_directories(folder_);
  {
    const Lock held(folder_);
    EXPECT_THROW(Lock second(folder_), Error);
  }
  const Lock again(folder_);
  EXPECT_THROW(Lock nowhere(folder_ / "none"), Error);
}

TEST_F(RecordTest, AHeaderOrALineCannotMakeItsReaderTakeMemory) {
  std::filesystem::create_directories(folder_);
  write_file(folder_ / "run.json", R"({"released": {"nodes": 1, "size": 90000000}})");
  write_file(folder_ / "released.f64", std::string(64, '\0'));
  EXPECT_TRUE(read(folder_).released.empty());  // whoever claims large values must have written them
  write_file(folder_ / "rounds.jsonl", std::string(3U << 20U, ' ') + "\n{\"round\": 0}\n");
  EXPECT_TRUE(read(folder_).lines.empty());
  std::string text;
  json line;
  RoundLines lines(folder_);
  EXPECT_FALSE(lines.next(text, line));
  EXPECT_TRUE(lines.broken());
  write_file(folder_ / "rounds.jsonl", "{\"a\": " + std::string(100000, '[') + "\n");
  EXPECT_TRUE(read(folder_).lines.empty());
}

TEST_F(RecordTest, OnlyRegularFilesAreOpened) {  // a pipe would be waited for
  std::filesystem::create_directories(folder_);
  for (const char* name : {"run.json", "rounds.jsonl", "released.f64"})
    ASSERT_EQ(::mkfifo((folder_ / name).c_str(), 0600), 0);
  EXPECT_TRUE(read_json(folder_ / "run.json").is_null());
  EXPECT_THROW(read(folder_), Error);
  EXPECT_FALSE(RoundLines(folder_).there());
  std::vector<Vector> values;
  EXPECT_FALSE(ReleasedFile(folder_, Shape{.nodes = 1, .size = 1}).next(values));
}

TEST_F(RecordTest, ReadsNoMoreRoundsThanItIsAskedFor) {
  const Vector a = Vector::Ones(3);
  const std::vector<const Vector*> both = {&a, &a};
  Writer writer(folder_, run_);
  for (int round = 0; round < 5; ++round) append(writer, {{"round", round}}, both);
  EXPECT_EQ(read(folder_, 3).released.size(), 3U);
  EXPECT_EQ(read(folder_, 3).lines.size(), 3U);
}

TEST_F(RecordTest, RewrittenItIsTheSame) {
  {
    const Writer writer(folder_, {{"released", {{"nodes", 1}, {"size", 2}}}, {"outcome", "running"}});
  }
  const Vector a = Vector::Constant(2, 0.1);
  const Kept kept = rewrite(
      folder_, 3, 2, [&](int round) { return round == 1 ? Vector() : a; },
      [](int round) { return round_line(round, RoundKind::data, 0.5, true); });
  EXPECT_EQ(kept.values, 3);
  const Record record = read(folder_);
  ASSERT_EQ(record.released.size(), 3U);
  EXPECT_EQ(record.released[0][0], a);
  EXPECT_EQ(record.released[1][0].size(), 0);
  EXPECT_EQ(record.lines[2].dump(), R"({"epsilon":0.5,"kind":"data","round":2})");
  amend(folder_, {{"outcome", "completed"}}, json());
  EXPECT_EQ(read(folder_).run["outcome"], "completed");
  EXPECT_EQ(read(folder_).run["released"]["size"], 2);
}

TEST(RoundKind, OneVocabulary) {
  for (const char* name : {"start", "data", "recycled", "trainer", "silent"})
    EXPECT_EQ(name_of(*kind_named(name)), name);
  EXPECT_FALSE(kind_named("free"));
  EXPECT_EQ(kind_of({.round = 0, .touches_data = true}), RoundKind::start);
  EXPECT_EQ(kind_of({.round = 1, .touches_data = true, .star = true}), RoundKind::data);
  EXPECT_EQ(kind_of({.round = 2, .silent = true, .star = true}), RoundKind::silent);
  EXPECT_EQ(kind_of({.round = 2, .star = true}), RoundKind::trainer);
  EXPECT_EQ(kind_of({.round = 2}), RoundKind::recycled);
}

TEST(Schema, AnyoneSeesWhatIsMarkedAndNothingThatIsNot) {
  const json run = {{"outcome", "completed"},
                    {"data", "/home/me/patients.csv"},
                    {"private", {{"test_error", 0.1}}},
                    {"ledger_head", {{"ledger", "1a"}, {"head", "2b"}}},
                    {"node_facts", {{{"node", 0}, {"secret", 1}}, 5}},
                    {"options", {{"rounds", 3}, {"out", "here"}}},
                    {"unheard_of", {{"outcome", 1}}}};
  const OptionRule rule = [](const std::string& name, const json&) { return name == "rounds"; };
  EXPECT_EQ(visible(File::simulation, run, Audience::anyone, rule), json({{"outcome", "completed"},
                                                                          {"data", nullptr},
                                                                          {"node_facts", json::array({{{"node", 0}}})},
                                                                          {"options", {{"rounds", 3}}}}));
  EXPECT_EQ(visible(File::simulation, run, Audience::anyone, nullptr)["options"], json::object());
  EXPECT_EQ(visible(File::simulation, run, Audience::owner, nullptr), run);
  EXPECT_EQ(visible(File::rounds, {{"round", 1}, {"private", {{"train_loss", 1}}}}, Audience::anyone, nullptr),
            json({{"round", 1}}));
  EXPECT_EQ(unknown_fields(File::simulation, run), (std::vector<std::string>{"node_facts.secret", "unheard_of"}));
}

TEST(VoidClaims, AreReadFromOutcomeAndNamesAndNeverFromFewer) {
  using Why = VoidClaim::Why;
  using All = std::vector<std::pair<std::string, Why>>;
  const auto of = [](const json& run) {
    All all;
    for (const VoidClaim& one : void_claims(run)) all.emplace_back(one.party, one.why);
    return all;
  };
  EXPECT_EQ(of({{"outcome", "completed"}, {"party", "a"}}), All{});
  EXPECT_EQ(of({{"outcome", past_unknown}, {"party", "a"}}), (All{{"a", Why::forgotten}}));
  EXPECT_EQ(of({{"outcome", "equivocation"}, {"party", "a"}}), (All{{"", Why::contradicted}}));
  EXPECT_EQ(of({{"outcome", "contradicted"}, {"party", "a"}}), (All{{"", Why::unproved}}));
  EXPECT_EQ(of({{"outcome", "equivocation"}, {contradicted_parties, {"b", "c"}}}),
            (All{{"b", Why::contradicted}, {"c", Why::contradicted}}));
  EXPECT_EQ(of({{"outcome", "completed"}, {contradicted_parties, {"b"}}}), (All{{"b", Why::contradicted}}));
  EXPECT_EQ(of({{"outcome", "completed"}, {contradicted_parties, 7}}), (All{{"", Why::contradicted}}));
  // Of an earlier process: a new start does not make a claim good again.
  for (const char* outcome : {"running", "interrupted", "peer_lost"}) {
    EXPECT_EQ(of({{"outcome", outcome}, {"party", "a"}, {void_before, past_unknown}}), (All{{"a", Why::forgotten}}));
    EXPECT_EQ(of({{"outcome", outcome}, {"party", "a"}, {void_before, 7}}), (All{{"a", Why::forgotten}}));
    EXPECT_EQ(of({{"outcome", outcome}, {"party", "a"}, {void_before, "contradicted"}}), (All{{"", Why::unproved}}));
  }
  EXPECT_EQ(voided_by({{"outcome", "running"}, {void_before, past_unknown}}), past_unknown);
  EXPECT_EQ(voided_by({{"outcome", past_unknown}}), past_unknown);
  EXPECT_EQ(voided_by({{"outcome", "completed"}}), "");
}

}  // namespace
}  // namespace parley::record
