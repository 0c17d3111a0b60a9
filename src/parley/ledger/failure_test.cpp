// A round that failed: charged as if it had been released, and its run is closed for good (docs/operate/resume.md).
#include "parley/ledger/ledger_test.h"
#include "parley/ledger/verify.h"

namespace parley::ledger {
namespace {

std::vector<privacy::Release> unreleased(int round, double epsilon, int nodes = 2) {
  std::vector<privacy::Release> nothing;
  for (int node = 0; node < nodes; ++node) {
    nothing.push_back(release(node, round, epsilon));
    nothing.back().value = {};
  }
  return nothing;
}

class Failure : public OnFile {
 protected:
  // Round 0 released by both nodes, round 1 failed.
  void failed_run(const std::string& id = "a") {
    Ledger ledger(open(), planned_run(id, 4, 0.125, 2));
    for (int node = 0; node < 2; ++node) EXPECT_TRUE(ledger.pay(release(node, 0, 0.125)));
    ledger.fail(unreleased(1, 0.125), "uncertified");
  }
};

TEST_F(Failure, IsChargedInFullAndClosesTheRun) {
  create(1.0);
  failed_run();
  {
    const auto book = open();
    EXPECT_EQ(book->spent("ward").epsilon(), 0.25);  // the released round and the failed one
    const LedgerFile::Run& run = *book->find_run("a");
    ASSERT_TRUE(run.failed);
    EXPECT_EQ(run.failed->round, 1);
    EXPECT_EQ(run.failed->reason, "uncertified");
    for (int node = 0; node < 2; ++node) EXPECT_EQ(run.accounts.at(node).last_round, 0) << "nothing was released in it";
    const std::vector<std::string> says = {"run a ended in round 1", "would choose the noise", "whatever --out says"};
    fails([&] { book->check_room(planned_run("a", 4, 0.125, 2)); }, says);
    fails([&] { Ledger(book, planned_run("a", 4, 0.125, 2)); }, says);
    EXPECT_NO_THROW(book->check_room(planned_run("b", 4, 0.125, 2))) << "another run is charged in full beside it";
    EXPECT_THROW(book->check_room(planned_run("b", 7, 0.125, 2)), Error) << "0.25 + 0.875 > 1: the failed round counts";
  }
  EXPECT_EQ(open()->head().entries, 2 + 1 + 2 + 2);
}

TEST_F(Failure, StaysPastAnythingElseThatIsWrittenLater) {
  create(2.0);
  failed_run("a");
  failed_run("b");
  open()->set_cap("ward", Cap(3.0));
  EXPECT_EQ(open()->spent("ward").epsilon(), 0.5);
  fails([&] { Ledger(open(), planned_run("a", 4, 0.125, 2)); }, {"run a ended"});
}

TEST_F(Failure, IsChargedOverTheCapToo) {
  auto book = create(0.5);
  {
    Ledger ledger(book, planned_run("a", 4, 0.125, 2));
    ledger.fail(unreleased(0, 0.75), "failed");
    EXPECT_EQ(ledger.spent(0), 0.75);
  }
  EXPECT_EQ(book->spent("ward").epsilon(), 0.75);
  EXPECT_THROW(book->check_room(planned_run("b", 1, 0.01)), Error);
}

TEST_F(Failure, NothingIsPaidAfterIt) {
  Ledger ledger(create(1.0), planned_run("a", 4, 0.125, 2));
  ledger.fail(unreleased(0, 0.125), "failed");
  EXPECT_THROW(ledger.pay(release(0, 0, 0.125)), std::logic_error);
  EXPECT_THROW(ledger.fail(unreleased(0, 0.125), "failed"), std::logic_error);
}

TEST_F(Failure, IsOfAllNodesOfTheRunAndOfTheRoundAfterTheLast) {
  Ledger ledger(create(1.0), planned_run("a", 4, 0.125, 2));
  EXPECT_THROW(ledger.fail(unreleased(0, 0.125, 1), "failed"), std::logic_error);
  EXPECT_THROW(ledger.fail(unreleased(1, 0.125), "failed"), std::logic_error);
  EXPECT_THROW(ledger.fail({release(0, 0, 0.125), release(1, 0, 0.125)}, "failed"), std::logic_error);
}

TEST_F(Failure, WithoutDataThereIsNothingToMark) {
  auto book = create(1.0);
  {
    Ledger ledger(book, planned_run("a", 4, 0.125));
    ledger.fail({{.node = 0, .round = 0, .value = {}, .charge = {}}}, "failed");
  }
  EXPECT_FALSE(book->find_run("a")->failed);
  EXPECT_NO_THROW(Ledger(book, planned_run("a", 4, 0.125)));
}

TEST_F(Failure, InMemoryIsChargedToo) {
  Ledger ledger(2, true);
  ledger.fail(unreleased(0, 0.125), "failed");
  EXPECT_EQ(ledger.spent(0), 0.125);
  EXPECT_EQ(ledger.spent(1), 0.125);
}

TEST_F(Failure, IsCheckedByVerify) {
  create(10.0);
  failed_run();
  const Checked checked = verify(*open());
  EXPECT_EQ(checked.failed, 1);
  EXPECT_EQ(checked.releases, 2);
  EXPECT_EQ(checked.charges, 4) << "the price of a failed round is recomputed like any other";
}

// An entry as a ledger would hold it that was changed by hand, chain and all: it must not open, or not pass.
TEST_F(Failure, OutOfItsPlaceIsRefused) {
  const auto with = [&](const std::vector<Entry>& more) {
    fs::remove_all(folder);
    fs::create_directory(folder);
    create(10.0);
    failed_run();
    LedgerDatabase::open(file, [](const Entry&) {}).append(more);
  };
  const std::string body =
      R"({"epsilon":0.125,"kind":"objective-gamma","mu":0.0,"parameters":{},"reason":"uncertified"})";
  const Entry mark{.kind = "failed", .run = "a", .node = 0, .round = 1, .body = body};
  const auto but = [](Entry e, const auto& change) {
    change(e);
    return e;
  };
  with({mark});
  fails([&] { open(); }, {"does not fit", "fails twice"});
  with({but(mark, [](Entry& e) { e.kind = "charge"; })});
  fails([&] { open(); }, {"does not fit", "a run that has failed"});
  with({but(mark, [](Entry& e) { e.run = "none"; })});
  fails([&] { open(); }, {"does not fit"});
  with({but(mark, [](Entry& e) { e.kind = "failure"; })});
  fails([&] { open(); }, {"does not fit", "unknown kind 'failure'"});
  // Of a run of two nodes one alone has failed.
  with({});
  {
    Ledger ledger(open(), planned_run("b", 4, 0.125, 2));
  }
  LedgerDatabase::open(file, [](const Entry&) {}).append({{but(mark, [](Entry& e) { e.run = "b", e.round = 0; })}});
  EXPECT_THAT(verify(*open()).wrong,
              testing::Contains(HasSubstr("run b failed in round 0, and node 1 was not charged")));
  sql("DROP TRIGGER no_update; UPDATE entry SET released = x'00' WHERE kind = 'failed' AND run = 'a' AND node = 0");
  EXPECT_THAT(verify(*open()).wrong, testing::Contains(HasSubstr("'failed' with a value")));
}

// A ledger of the version before has no such entry and opens as it did; its format is the same.
TEST_F(Failure, LeavesTheFormatAsItWas) {
  {
    Ledger ledger(create(1.0), planned_run("a", 2, 0.125));
    EXPECT_TRUE(ledger.pay(release(0, 0, 0.125)));
  }
  EXPECT_FALSE(open()->find_run("a")->failed);
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &db), SQLITE_OK);
  int version = 0;
  sqlite3_exec(
      db, "PRAGMA user_version",
      [](void* into, int, char** text, char**) { return *static_cast<int*>(into) = std::atoi(text[0]), 0; }, &version,
      nullptr);
  sqlite3_close(db);
  EXPECT_EQ(version, 1);
}

}  // namespace
}  // namespace parley::ledger
