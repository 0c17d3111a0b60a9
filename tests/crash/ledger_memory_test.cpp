// kill -9 at every step that makes, moves, accepts or brings up to date the memory of a ledger (R17): no kill makes a
// ledger look rolled back, and none makes an old copy look like the newest.
#include "fixture.h"
#include "parley/base/text.h"
#include "parley/ledger/newest_head.h"

namespace parley::ledger {
namespace {

using Open = LedgerFile::Open;

class CrashOfMemory : public Crash {
 protected:
  fs::path memory() const { return file.string() + ".newest-head"; }
  // Dies at the n-th failpoint of work; then `after` looks at what is left. How often it died.
  int at_every_step(const std::function<void()>& prepare, const std::function<void()>& work,
                    const std::function<void()>& after) {
    for (int n = 1;; ++n) {
      fresh();
      prepare();
      const int end = in_child([&] {
        failpoints.left = n;
        work();
      });
      EXPECT_TRUE(end == SIGKILL || end == 0) << error;
      after();
      if (end == 0 || HasFailure()) return n - 1;
    }
  }
};

TEST_F(CrashOfMemory, KilledInARoundItIsAtMostOneCommitBehindAndNeverAhead) {
  std::set<std::int64_t> lags;
  const int deaths = at_every_step([] {}, [&] { run_to_the_end(file, 1, *sent); },
                                   [&] {
                                     const auto remembered = NewestHead(file).read();
                                     ASSERT_TRUE(remembered);
                                     const LedgerFile book(file);  // not refused
                                     lags.insert(book.head().entries - remembered->head.entries);
                                   });
  EXPECT_GT(deaths, 40);
  EXPECT_EQ(lags, (std::set<std::int64_t>{0, 1, nodes}));  // the start of a run is one entry, a round one of each node
}

TEST_F(CrashOfMemory, KilledWhileALedgerIsMadeTheNextCapMakesIt) {
  const int deaths =
      at_every_step([&] { fs::remove_all(folder), fs::create_directory(folder); }, [&] { make_ledger(file); },
                    [&] {
                      make_ledger(file);
                      EXPECT_TRUE(NewestHead(file).read());
                      EXPECT_TRUE(LedgerFile(file).datasets().contains("ward"));
                    });
  EXPECT_GE(deaths, 10);
}

TEST_F(CrashOfMemory, KilledWhileItIsAcceptedTheOwnerDecidesAgainOrHasDecided) {
  std::map<std::size_t, int> seen;  // by the number of entries that say so
  const int deaths = at_every_step(
      [&] {
        run_to_the_end(file, 1, *sent);
        fs::remove(memory());
      },
      [&] { LedgerFile(file, Open::to_accept).accept("a test", "now", {}); },
      [&] {
        const std::size_t kept = LedgerFile(file, Open::to_read).acceptances().size();
        ++seen[kept];
        if (!NewestHead(file).read()) {
          EXPECT_THROW(LedgerFile{file}, Error);
          LedgerFile(file, Open::to_accept).accept("a test", "now", {});
        } else {
          EXPECT_EQ(kept, 1U) << "a memory without the decision that made it";
        }
        EXPECT_EQ(LedgerFile(file).spent("ward").epsilon(), rounds * price);
      });
  EXPECT_GE(deaths, 7);
  EXPECT_GE(seen[0], 3);
  EXPECT_GE(seen[1], 4);
}

TEST_F(CrashOfMemory, KilledWhileItMovesOutOfTheLockItIsInOneOfTheTwo) {
  const int deaths = at_every_step(
      [&] {
        const Head head = LedgerFile(file).head();
        char line[128];
        std::snprintf(line, sizeof line, "%10d %20lld %s", 7, static_cast<long long>(head.entries),
                      hex(head.hash).c_str());
        write_file(file.string() + ".lock", line + (" " + hex(sha256(line)).substr(0, 16)) + "\n");
        fs::remove(memory());
      },
      [&] { const LedgerFile book(file); },
      [&] {
        EXPECT_NO_THROW(LedgerFile{file});
        EXPECT_TRUE(NewestHead(file).read());
        EXPECT_FALSE(memory_in_lock(file));
      });
  EXPECT_EQ(deaths, 3);
}

// Less than a sector is written at once, so a disk that keeps half of it is broken: fail closed.
TEST_F(CrashOfMemory, AHalfOfItIsDamage) {
  fresh();
  const std::string old = read_file(memory(), "it");
  run_to_the_end(file, 1, *sent);
  const std::string newest = read_file(memory(), "it");
  ASSERT_EQ(old.size(), newest.size());
  const std::size_t torn = newest.find("\nhead ") + 20;
  write_file(memory(), newest.substr(0, torn) + old.substr(torn));
  EXPECT_EQ(in_child([&] { run_to_the_end(file, 2, *sent); }), 3);
  EXPECT_THAT(error, HasSubstr("the memory of this ledger is damaged"));
}

}  // namespace
}  // namespace parley::ledger
