// kill -9 at every step of a round, and a second process (promises R1, R4).
#include "fixture.h"
#include "parley/base/digest.h"

namespace parley::ledger {
namespace {

TEST_F(Crash, KilledAtAnyPointTheSpendIsNeverLostAndNeverDoubled) {
  fresh();
  failpoints.met.clear();
  run_to_the_end(file, 1, *sent);
  auto places = failpoints.met;
  for (const char* place : {"before the transaction", "before an insert", "before the commit", "after the commit",
                            "before the return", "paid, not sent", "sent to some"})
    EXPECT_GE(places[place], rounds) << place;
  int deaths = 0;
  for (long n = 1;; ++n, ++deaths) {
    fresh();
    const int end = in_child([&] {
      failpoints.left = n;
      run_to_the_end(file, 1, *sent);
    });
    if (end == 0) break;
    ASSERT_EQ(end, SIGKILL) << n;
    check_and_finish();
    if (HasFatalFailure()) FAIL() << "at failpoint " << n;
  }
  EXPECT_GT(deaths, 40);
}

TEST_F(Crash, KilledAgainAndAgainInOneRunTheTotalIsStillThatOfOneRun) {
  fresh();
  int deaths = 0;
  for (int attempt = 1;; ++attempt) {  // each attempt gets a little further
    const int end = in_child([&] {
      failpoints.left = 7;
      run_to_the_end(file, attempt, *sent);
    });
    if (end == 0) break;
    ASSERT_EQ(end, SIGKILL);
    ++deaths;
    ASSERT_LT(deaths, 100);
    if (attempt >= 12) break;
  }
  EXPECT_GE(deaths, 3);
  check_and_finish();
}

// Rounds 0 and 1 are released, and round 2 cannot be solved; what is visible of that comes after Ledger::fail.
void run_to_the_failure(const fs::path& file, int attempt, Sent& sent, const std::function<void()>& visible) {
  Ledger ledger(std::make_shared<LedgerFile>(file), plan());
  for (int t = 0; t < 3; ++t) {
    std::vector<privacy::Release> releases;
    for (int node = 0; node < nodes; ++node)
      releases.push_back({.node = node,
                          .round = t,
                          .value = t < 2 ? Vector::Constant(50, iterate(node, t, attempt)) : Vector(),
                          .charge = {.kind = "objective-gamma", .epsilon = price}});
    if (t == 2) return ledger.fail(releases, "uncertified"), visible();
    const auto paid = ledger.pay_all(std::move(releases));
    for (const privacy::Paid& p : *paid) sent.count[p.node()][t] = 1, sent.value[p.node()][t] = (*p.value())[0];
  }
}

TEST_F(Crash, KilledBeforeTheMarkOfAFailedRoundItIsTriedAgainAndKilledAfterItNever) {
  int marked = 0, unmarked = 0;
  for (long n = 1;; ++n) {
    fresh();
    const int end = in_child([&] {
      failpoints.left = n;
      run_to_the_failure(file, 1, *sent, [&] { sent->count[0][2] = 1; });
    });
    ASSERT_TRUE(end == SIGKILL || end == 0) << error;
    bool mark = false;
    {
      const LedgerFile book(file);
      mark = book.find_run("run") != nullptr && book.find_run("run")->failed;
      if (mark) {
        EXPECT_EQ(book.spent("ward").epsilon(), 3 * price) << n;  // as of an undisturbed run
      }
      if (sent->count[0][2] == 1) {
        EXPECT_TRUE(mark) << "visible, and not in the ledger: " << n;
      }
    }
    mark ? ++marked : ++unmarked;
    if (mark) {
      EXPECT_EQ(in_child([&] { run_to_the_end(file, 2, *sent); }), 3) << n;
      EXPECT_THAT(error, HasSubstr("run run ended in round 2"));
      const LedgerFile book(file);
      EXPECT_EQ(book.spent("ward").epsilon(), 3 * price);
      EXPECT_EQ(book.head().entries, 3 + 2 * nodes + nodes);
    } else {
      check_and_finish();  // nothing was stored: with fresh noise it may go well, and is charged once
    }
    if (HasFatalFailure() || end == 0) break;
  }
  EXPECT_GE(marked, 4);  // after the commit, before the return, after the mark, and undisturbed
  EXPECT_GE(unmarked, 20);
}

// A second process with the number of the first could not be told from it.
TEST_F(Crash, KilledWhileItGetsItsNumberNoProcessSharesItWithAnother) {
  fresh();
  int& told = sent->count[0][0];  // shared with the child, like what was sent
  int before = 0, deaths = 0;
  for (long n = 1;; ++n) {
    told = 0;
    const int end = in_child([&] {
      const auto book = std::make_shared<LedgerFile>(file);
      const Ledger ledger(book, plan());
      failpoints.left = n;
      told = book->begin_process("run");
    });
    ASSERT_TRUE(end == SIGKILL || end == 0) << error;
    if (end == SIGKILL) ++deaths;
    const int on_disk = LedgerFile(file).find_run("run")->processes;
    if (told > 0) {
      EXPECT_GT(told, before) << n;
      EXPECT_EQ(told, on_disk) << n;
    }
    before = on_disk;
    if (end == 0) break;
  }
  EXPECT_GE(deaths, 5);
  EXPECT_GE(before, 3);  // killed after the commit and before the return: counted, and never handed out
}

// R9: whoever was told counts on the mark, and half of it counts as the whole.
TEST_F(Crash, KilledWhileALedgerIsMarkedAsOldNothingIsChargedToItAfterwards) {
  int& told = sent->count[0][0];
  int marked = 0, refused = 0, untouched = 0;
  for (long n = 1;; ++n) {
    fresh();
    told = 0;
    const int end = in_child([&] {
      const auto book = std::make_shared<LedgerFile>(file);
      const Ledger ledger(book, plan());
      failpoints.left = n;
      book->accuse("run", "a peer has round 7", sha256("a message"));
      told = 1;
      failpoint("told");
    });
    ASSERT_TRUE(end == SIGKILL || end == 0) << error;
    PlannedRun other = plan();
    other.id = "other";
    std::string said;
    try {
      const auto book = std::make_shared<LedgerFile>(file);
      const bool mark = book->open_accusation() != nullptr;
      Ledger(book, other);
      EXPECT_FALSE(mark) << n;
      ++untouched;
    } catch (const Error& e) {
      said = e.what();
      EXPECT_THAT(said, HasSubstr("your ledger is older than what you have released"));
      ++(said.find("a peer has round 7") != std::string::npos ? marked : refused);
    }
    EXPECT_TRUE(told == 0 || !said.empty()) << "told, and the ledger goes on: " << n;
    if (HasFailure() || end == 0) break;
  }
  EXPECT_GE(untouched, 2);  // before the memory leads
  EXPECT_GE(refused, 3);    // after it, and before the commit
  EXPECT_GE(marked, 4);     // after the commit
}

TEST_F(Crash, ASecondProcessIsRefusedAndToldWhoHoldsTheLedger) {
  fresh();
  {
    Ledger ledger(std::make_shared<LedgerFile>(file), plan());
    EXPECT_EQ(in_child([&] { run_to_the_end(file, 1, *sent); }), 3);
    EXPECT_THAT(error, HasSubstr("in use by process " + std::to_string(::getpid())));
    EXPECT_THAT(error, HasSubstr(file.string()));
    EXPECT_THROW(LedgerFile{file}, Error);  // also within a process
    fs::create_symlink(file, folder / "other");
    EXPECT_EQ(in_child([&] { run_to_the_end(folder / "other", 1, *sent); }), 3);
  }
  EXPECT_EQ(sent->count[0][0], 0);
  check_and_finish();
}

TEST_F(Crash, AKilledHolderLeavesNoLockBehind) {
  fresh();
  ASSERT_EQ(in_child([&] {
              const LedgerFile book(file);
              ::raise(SIGKILL);
            }),
            SIGKILL);
  check_and_finish();
}

}  // namespace
}  // namespace parley::ledger
