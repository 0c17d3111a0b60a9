#include "parley/protocol/transcript.h"

#include <fcntl.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include "parley/base/message_test.h"
#include "parley/base/public_random.h"
#include "parley/protocol/exchange_test.h"

namespace parley::protocol {
namespace {

namespace fs = std::filesystem;
using Entries = std::vector<std::string>;

struct Opened {
  std::shared_ptr<MemoryFile::Medium> medium = std::make_shared<MemoryFile::Medium>();
  Entries found{};
  std::unique_ptr<Transcript> transcript{};

  explicit Opened(std::string content, const std::string& owner = "me") {
    medium->content = std::move(content);
    transcript = std::make_unique<Transcript>(
        std::make_unique<MemoryFile>(medium), owner, [this](Transcript::Entry kind, std::string_view message) {
          found.push_back(std::to_string(static_cast<int>(kind)) + std::string(message));
        });
  }
};

// Three entries; ends[i] is where the i-th ends, ends[0] the beginning.
std::string three(std::vector<std::size_t>& ends) {
  Opened t("");
  ends.push_back(t.medium->content.size());
  for (const char* message : {"first", "", "third"}) {
    t.transcript->append(Transcript::Entry::received, message);
    t.transcript->sync();
    ends.push_back(t.medium->content.size());
  }
  return t.medium->content;
}

TEST(Transcript, ShowsWhatWasStoredInOrder) {
  std::vector<std::size_t> ends;
  Opened t(three(ends));
  EXPECT_EQ(t.found, (Entries{"2first", "2", "2third"}));
  t.transcript->append(Transcript::Entry::sent, "fourth");
  EXPECT_EQ(Opened(t.medium->content).found, (Entries{"2first", "2", "2third", "3fourth"}));
}

TEST(Transcript, HeadersThatOverlapDoNotMakeItsReaderWorkForHours) {  // 0.7 MB of them took 3 s, squared in length
  std::vector<std::size_t> ends;
  std::string content = three(ends) + "damage";
  const auto le = [](std::uint64_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
    return text;
  };
  const std::string header = "ptr1" + le(60000, 4) + le(ends.back() + 1, 8) + std::string(33, 'x');
  for (int i = 0; i < 40000; ++i) content += header;
  EXPECT_THAT(message_of([&] { Opened t(content); }), testing::HasSubstr("damaged at byte"));
}

TEST(Transcript, ATornEndIsCutOffWhereverItIsTorn) {
  std::vector<std::size_t> ends;
  const std::string whole = three(ends);
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    for (const bool zeros : {false, true}) {
      std::string torn = whole.substr(0, size);
      const std::size_t most = size < ends[0] ? ends[0] : whole.size();  // the beginning is synced before the rest
      if (zeros) torn.resize(std::min(most, size + 7), '\0');
      const auto kept = static_cast<std::size_t>(std::ranges::count_if(ends, [&](auto e) { return e <= size; }));
      Opened t(torn);
      EXPECT_EQ(t.found.size(), kept == 0 ? 0 : kept - 1) << size;
      t.transcript->append(Transcript::Entry::received, "again");
      EXPECT_EQ(Opened(t.medium->content).found.back(), "2again") << size;
    }
  }
}

TEST(Transcript, DamageInFrontOfWhatWasSyncedLaterIsNoTornEnd) {
  std::vector<std::size_t> ends;
  const std::string whole = three(ends);
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    const bool in_last = bit / 8 >= ends[2];
    const std::string text = message_of([&] { Opened{damaged}; });
    if (in_last)
      EXPECT_EQ(text, "(no Error)") << bit;  // could have been torn
    else
      EXPECT_THAT(text, HasSubstr(bit / 8 >= ends[0] ? "memory: the transcript is damaged at byte " : "transcript"));
  }
}

TEST(Transcript, BelongsToOnePartyInOneRun) {
  std::vector<std::size_t> ends;
  const std::string whole = three(ends);
  EXPECT_THAT(message_of([&] { Opened(whole, "you"); }), HasSubstr("belongs to another run, configuration or party"));
}

TEST(Transcript, AFileOfSomebodyElseIsLeftAlone) {
  const std::string thesis(1000, 'x');
  EXPECT_THAT(message_of([&] { Opened{thesis}; }), HasSubstr("memory: this is not a transcript of parley"));
}

TEST(Transcript, NothingIsWrittenAfterAWriteThatFailed) {
  Opened t("");
  t.medium->full = true;
  EXPECT_THAT(message_of([&] { t.transcript->append(Transcript::Entry::received, "x"); }), HasSubstr("no space left"));
  t.medium->full = false;
  EXPECT_THAT(message_of([&] { t.transcript->append(Transcript::Entry::received, "x"); }),
              HasSubstr("memory: the transcript could not be written a moment ago"));
  EXPECT_THAT(message_of([&] { t.transcript->sync(); }), HasSubstr("could not be written a moment ago"));
}

TEST(Transcript, NoDamageDoesAnythingButAnErrorOrAShorterTranscript) {
  std::vector<std::size_t> ends;
  const std::string whole = three(ends);
  PublicRandom random(1, PublicRandom::Purpose::rows);
  const long times = std::getenv("PARLEY_TEST_FULL") != nullptr    ? 1000000
                     : std::getenv("PARLEY_TEST_SHORT") != nullptr ? 3000
                                                                   : 30000;
  for (long i = 0; i < times; ++i) {
    std::string bytes = whole;
    for (auto edits = 1 + random.below(4); edits > 0; --edits) {
      const auto place = random.below(bytes.size() + 1);
      if (random.below(3) == 0)
        bytes.erase(place, random.below(20));
      else
        bytes.insert(place, 1, static_cast<char>(random.below(256)));
    }
    try {
      const Opened t(bytes);
      EXPECT_LE(t.found.size(), 3U);
    } catch (const Error&) {  // it says so
    }
  }
}

class OnDisk : public testing::Test {
 protected:
  OnDisk() {
    std::string pattern = (fs::temp_directory_path() / "parley-transcript-XXXXXX").string();
    folder = mkdtemp(pattern.data());
  }
  ~OnDisk() override { fs::remove_all(folder); }
  static Entries read(const fs::path& path) {
    Entries found;
    const Transcript t(open_append_file(path), "me",
                       [&](Transcript::Entry, std::string_view message) { found.emplace_back(message); });
    return found;
  }
  fs::path folder;
};

TEST_F(OnDisk, ATranscriptIsReadAgainAndATornEndIsGone) {
  const fs::path path = folder / "transcript";
  {
    Transcript t(open_append_file(path), "me", [](auto, auto) {});
    t.append(Transcript::Entry::received, "one");
    t.append(Transcript::Entry::received, "two");
    t.sync();
  }
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  fs::resize_file(path, fs::file_size(path) - 1);
  EXPECT_EQ(read(path), (Entries{"one"}));
  const auto size = fs::file_size(path);
  EXPECT_EQ(read(path), (Entries{"one"}));
  EXPECT_EQ(fs::file_size(path), size);
}

TEST_F(OnDisk, ASecondProcessIsRefused) {
  const fs::path path = folder / "transcript";
  const auto first = open_append_file(path);
  EXPECT_THAT(message_of([&] { open_append_file(path); }), HasSubstr(path.string() + ": another process uses it"));
}

TEST_F(OnDisk, AFolderThatIsNotThereIsNamed) {
  const fs::path path = folder / "none" / "transcript";
  EXPECT_THAT(message_of([&] { open_append_file(path); }), HasSubstr(path.string() + ": cannot open"));
}

TEST_F(OnDisk, AFullDiskIsNamedAndNothingIsAcknowledged) {
  const fs::path path = folder / "transcript";
  Transcript t(open_append_file(path), "me", [](auto, auto) {});
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old = std::signal(SIGXFSZ, SIG_IGN);
  rlimit low = before;
  low.rlim_cur = fs::file_size(path) + 10;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &low), 0);
  const std::string text = message_of([&] { t.append(Transcript::Entry::received, std::string(100, 'x')); });
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, old);
  EXPECT_THAT(text, HasSubstr(path.string() + ": cannot write: File too large"));
  EXPECT_THAT(text, HasSubstr("nothing was acknowledged or sent"));
}

}  // namespace
}  // namespace parley::protocol
