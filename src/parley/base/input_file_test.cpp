#include "parley/base/input_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "parley/base/message_test.h"
#include "parley/base/text.h"

namespace parley {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class InputFileTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path file(const std::string& text) const {
    write_file(folder_ / "file", text);
    return folder_ / "file";
  }
  std::vector<std::string> lines(const std::string& text, InputLines::Ends ends) const {
    InputLines all(InputFile(file(text), "it"), 3 * mebibyte, ends);
    std::vector<std::string> found;
    for (std::string_view line; all.next(line).value();) found.emplace_back(line);
    return found;
  }
  const fs::path folder_ = fs::temp_directory_path() / ("parley-input-" + std::to_string(::getpid()));
};

TEST_F(InputFileTest, OnlyARegularFileIsOpenedAndALinkCountsAsWhatItLeadsTo) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  fs::create_symlink("/dev/zero", folder_ / "zero");
  fs::create_symlink(file("words"), folder_ / "link");
  EXPECT_EQ(read_file(folder_ / "link", "it"), "words");
  const auto refusal = [&](const fs::path& path) { return message_of([&] { read_file(path, "the model"); }); };
  EXPECT_THAT(refusal(folder_ / "pipe"), HasSubstr("pipe: the model is a pipe; allowed: a regular file"));
  EXPECT_THAT(refusal(folder_ / "zero"), HasSubstr("zero: the model is a device; allowed: a regular file"));
  EXPECT_THAT(refusal(folder_), HasSubstr("the model is a directory"));
  EXPECT_THAT(refusal(folder_ / "none"), HasSubstr("the model cannot be read: No such file"));
  EXPECT_FALSE(opened(folder_ / "pipe").has_value());
}

TEST_F(InputFileTest, NoMoreIsReadThanIsAllowed) {
  const fs::path path = file("12345");
  EXPECT_EQ(read_file(path, "it", 5), "12345");
  EXPECT_THAT(message_of([&] { read_file(path, "the model", 4); }),
              HasSubstr("the model is too large; got 5 bytes; allowed: at most 4 bytes"));
  fs::resize_file(path, std::uintmax_t{10} << 30U);  // a hole: nothing is on the disk
  EXPECT_THAT(message_of([&] { read_file(path, "the model"); }), HasSubstr("got 10240 MiB; allowed: at most 256 MiB"));
}

TEST_F(InputFileTest, AFileThatGrowsIsReadToItsEndAndNotBeyondTheLimit) {
  InputFile in(file("12345"), "it");
  std::ofstream(folder_ / "file", std::ios::app) << "678";
  EXPECT_EQ(in.rest(8), "12345678");
  InputFile again(folder_ / "file", "it");
  std::ofstream(folder_ / "file", std::ios::app) << "9";
  EXPECT_THAT(message_of([&] { again.rest(8); }), HasSubstr("too large"));
  EXPECT_EQ(InputFile("/proc/self/comm", "it").rest(100).empty(), false) << "its size is said to be 0";
}

TEST_F(InputFileTest, LinesEndAsTheyAreSaidToWhereverAChunkOfTheFileEnds) {
  using Ends = InputLines::Ends;
  EXPECT_EQ(lines("a\nb\r\nc", Ends::lf), (std::vector<std::string>{"a\n", "b\r\n", "c"}));
  EXPECT_EQ(lines("a\rb\r\nc\n\n\r", Ends::lf_or_cr), (std::vector<std::string>{"a\r", "b\r\n", "c\n", "\n", "\r"}));
  EXPECT_EQ(lines("", Ends::lf), std::vector<std::string>{});
  for (const std::size_t before : {mebibyte - 2, mebibyte - 1, mebibyte}) {
    const std::string line = std::string(before, 'x') + "\r\n";
    EXPECT_EQ(lines(line + "y\r", Ends::lf_or_cr), (std::vector<std::string>{line, "y\r"}));
    EXPECT_EQ(lines(line + line, Ends::lf), (std::vector<std::string>{line, line}));
  }
}

TEST_F(InputFileTest, ALineThatIsTooLongIsNotRead) {
  file("first\n");
  fs::resize_file(folder_ / "file", std::uintmax_t{10} << 30U);
  InputLines all(InputFile(folder_ / "file", "it"), 1000, InputLines::Ends::lf);
  std::string_view line;
  EXPECT_EQ(all.next(line), true);
  EXPECT_EQ(all.next(line), std::nullopt);
}

TEST(ShallowJson, RefusesWhatNestsTooDeeplyOrHasTooManyValues) {
  EXPECT_TRUE(shallow_json(std::string(100'000, '[') + std::string(100'000, ']')).is_null());
  const auto list = [](std::size_t values) {
    std::string text = "[0";
    for (std::size_t i = 1; i < values; ++i) text += ",0";
    return text + "]";
  };
  EXPECT_EQ(shallow_json(list(1000)).size(), 1000U);
  EXPECT_TRUE(shallow_json(list(10'000'001)).is_null());
}

TEST(ShallowJson, RefusesAKeyThatStandsTwiceInOneObject) {
  EXPECT_TRUE(shallow_json(R"({"epsilon": 2, "epsilon": 1})").is_null());
  EXPECT_TRUE(shallow_json(R"({"a": [{"b": {}, "c": 1, "b": {}}]})").is_null());
  EXPECT_TRUE(shallow_json(R"({"a": {"a": 1}, "b": 2, "\u0061": 3})").is_null()) << "the same key, written otherwise";
  EXPECT_EQ(shallow_json(R"({"a": {"a": [{"a": 1}, {"a": 2}]}, "b": {"a": 3}})")["b"]["a"], 3);
}

}  // namespace
}  // namespace parley
