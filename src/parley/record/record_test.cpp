#include "parley/record/record.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "parley/base/error.h"
#include "parley/base/text.h"

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
  EXPECT_EQ(read(folder_).round_lines.size(), 1U);
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
    EXPECT_NE(said().find("--resume true"), std::string::npos);
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

}  // namespace
}  // namespace parley::record
