// kill -9 at every step of a round, and a second process (promises R1, R4).
#include "fixture.h"

namespace parley::privacy {
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
}  // namespace parley::privacy
