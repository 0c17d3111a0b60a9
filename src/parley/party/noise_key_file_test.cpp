#include "parley/party/noise_key_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/party/exit_code.h"
#include "parley/record/beside.h"

namespace parley::party {
namespace {

namespace fs = std::filesystem;
using std::chrono::days;
using std::chrono::sys_seconds;
using testing::HasSubstr;

const sys_seconds today{std::chrono::seconds(1800000000)};

class NoiseKeyFile : public testing::Test {
 protected:
  NoiseKeyFile() { fs::create_directories(folder_); }
  ~NoiseKeyFile() override { fs::remove_all(folder_.parent_path()); }
  NoiseKeyFile(const NoiseKeyFile&) = delete;
  NoiseKeyFile& operator=(const NoiseKeyFile&) = delete;
  fs::path folder_ = fs::path(testing::TempDir()) / ("noise_key_" + std::to_string(::getpid())) / "out";
  fs::path file_ = record::noise_key_file(folder_, 1);
};

TEST_F(NoiseKeyFile, StandsBesideTheFolderForItsOwnerAlone) {
  EXPECT_EQ(file_.filename(), "out.noise-key");
  EXPECT_EQ(record::noise_key_file(folder_, 2).filename(), "out.part-2.noise-key");
  const NoiseKey made = make_noise_key(file_, today);
  EXPECT_EQ(made.payload().size(), protocol::noise_key_bytes);
  struct stat status{};
  ASSERT_EQ(::stat(file_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(read_noise_key(file_, today)->payload(), made.payload());
  EXPECT_THROW(make_noise_key(file_, today), Error) << "over another one";
}

TEST_F(NoiseKeyFile, IsDeletedAfterThirtyDays) {
  make_noise_key(file_, today);
  EXPECT_TRUE(read_noise_key(file_, today + days(29)));
  EXPECT_FALSE(read_noise_key(file_, today + days(30)));
  EXPECT_FALSE(fs::exists(file_));
}

// The key of a start that is refused, of a study that nobody goes on with, of a process that died after its model.
TEST_F(NoiseKeyFile, WhatMustNotLieAnyLongerIsSweptForAllRunsOfAPlace) {
  fs::create_directories(folder_.parent_path() / "done");
  const auto key = [&](const char* out, int part, sys_seconds made) {
    const fs::path file = record::noise_key_file(folder_.parent_path() / out, part);
    make_noise_key(file, made);
    return file;
  };
  const fs::path kept = key("out", 1, today), past = key("gone", 1, today - days(31)),
                 later = key("gone", 2, today - days(30)), done = key("done", 1, today), part = key("done", 3, today);
  const fs::path broken = folder_.parent_path() / "broken.noise-key";
  std::ofstream(broken) << "short";
  write_file(folder_.parent_path() / "done" / "run.json", R"({"outcome": "completed"})");
  const auto swept = sweep_noise_keys(folder_, today);
  std::vector<std::string> files;
  for (const SweptKey& one : swept) {
    files.push_back(one.file.filename().string());
    EXPECT_TRUE(one.deleted);
  }
  EXPECT_THAT(files, testing::ElementsAre("done.noise-key", "done.part-3.noise-key", "gone.noise-key",
                                          "gone.part-2.noise-key"));
  EXPECT_THAT(in_words(swept.front()), HasSubstr("its run is complete"));
  EXPECT_THAT(in_words(swept.back()), HasSubstr("its day is past"));
  for (const fs::path& file : {past, later, done, part}) EXPECT_FALSE(fs::exists(file)) << file;
  EXPECT_TRUE(fs::exists(kept));
  EXPECT_TRUE(fs::exists(broken)) << "nobody knows its day";
  EXPECT_TRUE(sweep_noise_keys(folder_ / "no" / "such" / "place", today).empty());
}

TEST_F(NoiseKeyFile, ThoseOfAllPartsOfARunAreDeletedAndNoOthers) {
  for (int part = 1; part <= 3; ++part) make_noise_key(record::noise_key_file(folder_, part), today);
  const fs::path other = record::noise_key_file(folder_.parent_path() / "out-2", 1);
  make_noise_key(other, today);
  EXPECT_EQ(record::noise_key_files(folder_ / "").size(), 3U);
  delete_noise_keys(folder_);
  EXPECT_TRUE(record::noise_key_files(folder_).empty());
  EXPECT_TRUE(fs::exists(other));
}

// `--out .`: beside the folder, not in it.
TEST_F(NoiseKeyFile, NeverLiesInTheFolderThatIsGivenAway) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  const fs::path file = record::noise_key_file(".", 1);
  EXPECT_EQ(fs::weakly_canonical(file.parent_path()), fs::weakly_canonical(folder_.parent_path()));
  EXPECT_EQ(file.filename(), "out.noise-key");
  EXPECT_EQ(record::noise_key_file("a", 1), "a.noise-key");
  fs::current_path(before);
}

TEST_F(NoiseKeyFile, WhatIsWrongWithItIsSaid) {
  EXPECT_FALSE(read_noise_key(file_, today)) << "there is none";
  make_noise_key(file_, today);
  ::chmod(file_.c_str(), 0640);
  EXPECT_THAT([&] { read_noise_key(file_, today); }, testing::ThrowsMessage<Error>(HasSubstr("others may read")));
  ::chmod(file_.c_str(), 0600);
  std::ofstream(file_) << "short";
  EXPECT_THAT([&] { read_noise_key(file_, today); },
              testing::ThrowsMessage<Error>(testing::AllOf(HasSubstr("damaged"), testing::Not(HasSubstr("copy")))));
}

protocol::Message key_message(int node, const std::string& payload) {
  return {.kind = protocol::Kind::noise_key, .node = node, .round = -1, .payload = payload};
}

// z_ij is the same for i and j and nobody else's, and cancels; a key of low order gives none.
TEST_F(NoiseKeyFile, PairsFindTheSameNoise) {
  protocol::Agreement agreed{
      .run = "r", .configuration_hash = "c", .parties = {"a", "b", "c"}, .graph = network::Graph(3, {{0, 1}, {1, 2}})};
  agreed.shared_noise = true;
  std::vector<NoiseKey> own;
  protocol::NoiseKeys keys(agreed);
  for (int i = 0; i < 3; ++i) {
    own.push_back(make_noise_key(record::noise_key_file(folder_, i + 1), today));
    keys.add(key_message(i, own.back().payload()), "");
  }
  const privacy::PairIndex index{.round = 1, .release = 0};
  Vector all = Vector::Zero(5);
  for (int i = 0; i < 3; ++i) {
    const Vector one = pairs_of(own[static_cast<std::size_t>(i)], keys, agreed, i, 3)->sum(i, index, 5);
    EXPECT_GT(one.norm(), 0.1);
    all += one;
  }
  EXPECT_LT(all.norm(), 1e-12);
  const auto first = pairs_of(own[0], keys, agreed, 0, 3), second = pairs_of(own[1], keys, agreed, 1, 3);
  EXPECT_EQ(first->key(0, 1), second->key(0, 1));
  EXPECT_NE(first->key(0, 1), first->key(0, 2));
  agreed.run = "another part";
  EXPECT_NE(pairs_of(own[0], keys, agreed, 0, 3)->key(0, 1), first->key(0, 1));
  protocol::NoiseKeys bad(agreed);
  for (int i = 0; i < 3; ++i)
    bad.add(key_message(
                i, i == 2 ? std::string(protocol::noise_key_bytes, '\0') : own[static_cast<std::size_t>(i)].payload()),
            "");
  EXPECT_THAT([&] { pairs_of(own[0], bad, agreed, 0, 3); },
              testing::ThrowsMessage<Error>(HasSubstr("c's key for shared noise is none")));
}

// Announced for longer than 30 days and what clocks may differ: nobody shares noise with it.
TEST_F(NoiseKeyFile, AKeyThatIsToBeKeptForLongerThanTheOthersSharesNothing) {
  protocol::Agreement agreed{
      .run = "r", .configuration_hash = "c", .parties = {"a", "b", "c"}, .graph = network::Graph(3, {{0, 1}, {1, 2}})};
  agreed.shared_noise = true;
  std::vector<NoiseKey> own;
  for (int i = 0; i < 3; ++i) own.push_back({identity::AgreementKey::make(), today + days(10 * i)});
  const auto pairs = [&](sys_seconds of_c) {
    own[2].deleted_at = of_c;
    protocol::NoiseKeys keys(agreed);
    for (int i = 0; i < 3; ++i) keys.add(key_message(i, own[static_cast<std::size_t>(i)].payload()), "");
    for (int i = 0; i < 3; ++i) pairs_of(own[static_cast<std::size_t>(i)], keys, agreed, i, 3);
  };
  EXPECT_NO_THROW(pairs(today + days(10 + 31)));
  for (const sys_seconds odd : {today + days(10 + 31) + std::chrono::seconds(1), today - days(32), sys_seconds::max(),
                                sys_seconds(std::chrono::seconds(-1))})
    EXPECT_THAT([&] { pairs(odd); }, testing::ThrowsMessage<Error>(HasSubstr("c announces that it keeps its secret")));
}

// The keys of a run are signed once: no later start finds others, so a supervisor must not try.
TEST_F(NoiseKeyFile, AStartWithKeysThatNobodyCanShareNoiseWithIsNeverTriedAgain) {
  protocol::Agreement agreed{
      .run = "r", .configuration_hash = "c", .parties = {"a", "b", "c"}, .graph = network::Graph(3, {{0, 1}, {1, 2}})};
  agreed.shared_noise = true;
  const auto exit_with = [&](const std::string& key_of_c) {
    std::vector<NoiseKey> own;
    protocol::NoiseKeys keys(agreed);
    for (int i = 0; i < 3; ++i) {
      own.push_back({identity::AgreementKey::make(), today});
      keys.add(key_message(i, i == 2 ? key_of_c : own.back().payload()), "");
    }
    try {
      pairs_of(own[0], keys, agreed, 0, 3);
    } catch (const Error& e) {
      return exit_of(e);
    }
    return Exit::completed;
  };
  const auto announced = [](sys_seconds day) { return NoiseKey{identity::AgreementKey::make(), day}.payload(); };
  EXPECT_EQ(exit_with(announced(today)), Exit::completed);
  EXPECT_EQ(exit_with(announced(today + days(32))), Exit::never_again);
  EXPECT_EQ(exit_with(std::string(protocol::noise_key_bytes, '\0')), Exit::never_again);
  try {
    refuse_without_noise_key(folder_, 1);
  } catch (const Error& e) {
    EXPECT_EQ(exit_of(e), Exit::never_again);
  }
}

}  // namespace
}  // namespace parley::party
