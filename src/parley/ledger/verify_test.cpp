// What the file must notice: changes, damage, older copies, charges below their price.
#include "parley/ledger/verify.h"

#include <algorithm>

#include "parley/base/text.h"
#include "parley/ledger/ledger_test.h"

namespace parley::ledger {
namespace {

TEST_F(OnFile, HistoryCannotBeChangedByHand) {
  {
    EXPECT_TRUE(Ledger(create(1.0), planned_run("a", 1, 0.4)).pay(release(0, 0, 0.4)));
  }
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &db), SQLITE_OK);
  EXPECT_NE(sqlite3_exec(db, "UPDATE entry SET round = 7", nullptr, nullptr, nullptr), SQLITE_OK);
  EXPECT_NE(sqlite3_exec(db, "DELETE FROM entry WHERE kind = 'charge'", nullptr, nullptr, nullptr), SQLITE_OK);
  EXPECT_THAT(sqlite3_errmsg(db), HasSubstr("append-only"));
  sqlite3_close(db);
  EXPECT_EQ(open()->spent("ward").epsilon(), 0.4);
}

TEST_F(OnFile, WhateverIsChangedPastTheTriggersBreaksTheChain) {
  {
    auto book = create(1.0);
    Ledger ledger(book, planned_run("a", 2, 0.4));
    EXPECT_TRUE(ledger.pay(release(0, 0, 0.4)));
    EXPECT_TRUE(ledger.pay(release(0, 1, 0.4)));
  }
  const std::string intact = read_file(file, "ledger");
  const std::string drop = "DROP TRIGGER no_update; DROP TRIGGER no_delete;";
  for (const std::string change :
       {"UPDATE entry SET body = replace(body, '0.4', '0.1') WHERE round = 0",
        "UPDATE entry SET kind = 'none' WHERE round = 0", "UPDATE entry SET node = 1 WHERE round = 0",
        "DELETE FROM entry WHERE round = 0", "DELETE FROM entry WHERE kind = 'cap'",
        "UPDATE entry SET released_hash = zeroblob(32) WHERE round = 1",
        "UPDATE entry SET hash = x'00' WHERE round = 1", "UPDATE entry SET run = 'b' WHERE kind = 'run'"}) {
    write_file(file, intact);
    sql(drop + change);
    fails([&] { open(); }, {"chain of the ledger is broken", file.string()});
  }
  write_file(file, intact);
  sql(drop + "DELETE FROM entry WHERE round = 1");  // the tail: the chain alone cannot tell, the head beside it can
  fails([&] { open(); }, {"your ledger is older than what you have released"});
  write_file(file, intact);
  sql(drop + "UPDATE entry SET released = zeroblob(24) WHERE round = 1");
  auto book = open();
  EXPECT_THAT(verify(*book).wrong, testing::Contains(HasSubstr("the stored value is damaged")));
  Ledger ledger(book, planned_run("a", 2, 0.4));
  fails([&] { ledger.stored(0, 1); }, {"damaged"});
}

TEST_F(OnFile, AnOlderCopyPutBackIsNoticedAtTheNextStart) {
  {
    EXPECT_TRUE(Ledger(create(1.0), planned_run("a", 2, 0.4)).pay(release(0, 0, 0.4)));
  }
  fs::copy_file(file, folder / "backup");
  {
    EXPECT_TRUE(Ledger(open(), planned_run("a", 2, 0.4)).pay(release(0, 1, 0.4)));
  }
  fs::rename(file, folder / "newest");
  fs::copy_file(folder / "backup", file);
  fails([&] { open(); }, {"your ledger is older than what you have released", file.string()});
  fs::rename(folder / "newest", file);
  EXPECT_EQ(open()->spent("ward").epsilon(), 0.8);
}

// On another machine, or without the file beside it, the record of the run tells.
TEST_F(OnFile, ARecordShowsThatALedgerIsOlderThanWhatWasReleased) {
  std::vector<std::vector<Vector>> record(2, {Vector::Ones(3)});
  {
    EXPECT_TRUE(Ledger(create(1.0), planned_run("a", 2, 0.4)).pay(release(0, 0, 0.4)));
  }
  fs::copy_file(file, folder / "backup");
  {
    auto book = open();
    {
      EXPECT_TRUE(Ledger(book, planned_run("a", 2, 0.4)).pay(release(0, 1, 0.4)));
    }
    EXPECT_TRUE(verify_record(*book, "a", record, 0, "runs/a").empty());
    EXPECT_THAT(verify_record(*book, "b", record, 0, "runs/b"), testing::ElementsAre(HasSubstr("does not know run b")));
    record[1][0][2] = 7;
    EXPECT_THAT(verify_record(*book, "a", record, 0, "runs/a"),
                testing::ElementsAre(HasSubstr("round 1: the record holds another")));
  }
  const LedgerFile old(folder / "backup", LedgerFile::Open::to_read);
  EXPECT_THAT(verify_record(old, "a", record, 0, "runs/a"),
              testing::ElementsAre(HasSubstr("2 rounds were released, 1 are in the ledger: your ledger is older")));
}

// run.json is not signed: what it claims may not be less than what was paid.
TEST_F(OnFile, ARecordThatClaimsLessThanItsChargesIsWrong) {
  create(1.0);
  auto book = open();
  {
    Ledger ledger(book, planned_run("a", 2, 0.4));
    ASSERT_TRUE(ledger.pay(release(0, 0, 0.4)));
    ASSERT_TRUE(ledger.pay(release(0, 1, 0.4)));
  }
  const auto wrong = [&](const RunClaim& claim) { return verify_claim(*book, "a", claim, "runs/a"); };
  const RunClaim honest{.epsilon_colluders = 0.8, .epsilon = 0.8, .is_private = true};
  EXPECT_THAT(wrong(honest), testing::IsEmpty());
  RunClaim claim = honest;
  claim.epsilon = 0.7;
  EXPECT_THAT(wrong(claim),
              testing::ElementsAre(HasSubstr("run.json claims epsilon = 0.7 at delta = 0, and the ledger's "
                                             "charges for its run make 0.8")));
  claim = honest;
  claim.epsilon_colluders = 0.7;
  EXPECT_THAT(wrong(claim), testing::ElementsAre(HasSubstr("against colluders")));
  claim = honest;
  claim.epsilon = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(wrong(claim).size(), 1U);
  claim = honest;
  claim.rows_per_person = 4;
  EXPECT_THAT(wrong(claim), testing::ElementsAre(HasSubstr("and the ledger's charges are for one row")));
  for (const double delta : {-0.1, 1.0, std::numeric_limits<double>::quiet_NaN()}) {
    claim = honest;
    claim.delta = delta;
    EXPECT_THAT(wrong(claim), testing::ElementsAre(HasSubstr("no delta from 0 to 1")));
  }
  claim = {.is_private = false};
  EXPECT_THAT(wrong(claim), testing::IsEmpty());
}

TEST_F(OnFile, TheProcessesOfARunAreNumberedOverReopeningsAndVerifyCountsThem) {
  create(1.0);
  for (int n = 1; n <= 3; ++n) {
    auto book = open();
    const Ledger ledger(book, planned_run("a", 2, 0.4));
    EXPECT_EQ(book->begin_process("a"), n);
  }
  auto book = open();
  {
    Ledger other(book, planned_run("b", 1, 0.1));
    EXPECT_EQ(book->begin_process("b"), 1);  // each run counts its own
    EXPECT_EQ(book->begin_process("a"), 4);
    EXPECT_THROW(book->begin_process("c"), std::logic_error);
    other.fail({{.node = 0, .round = 0, .charge = release(0, 0, 0.1).charge}}, "failed");
  }
  fails([&] { book->begin_process("b"); }, {"run b ended in round 0"});
  EXPECT_NEAR(book->spent("ward").epsilon(), 0.1, 1e-15);  // of the failed round: processes cost nothing
  EXPECT_EQ(verify(*book).processes, 5);
  EXPECT_EQ(book->find_run("a")->processes, 4);
}

TEST_F(OnFile, AProcessThatIsTakenOutOrGivenAValueIsNoticed) {
  {
    auto book = create(1.0);
    const Ledger ledger(book, planned_run("a", 1, 0.4));
    for (int n = 1; n <= 3; ++n) EXPECT_EQ(book->begin_process("a"), n);
  }
  const std::string intact = read_file(file, "ledger");
  const std::string drop = "DROP TRIGGER no_update; DROP TRIGGER no_delete;";
  for (const std::string change :
       {"UPDATE entry SET body = '{\"incarnation\":7}' WHERE sequence = 5", "DELETE FROM entry WHERE sequence = 4"}) {
    write_file(file, intact);
    sql(drop + change);
    fails([&] { open(); }, {"chain of the ledger is broken"});
  }
  write_file(file, intact);
  sql(drop + "UPDATE entry SET released = x'00' WHERE sequence = 5");
  EXPECT_THAT(verify(*open()).wrong, testing::ElementsAre("entry 5: 'process' with a value"));
}

TEST_F(OnFile, VerifyFindsAChargeBelowItsPrice) {
  auto book = create(1.0);
  const privacy::Charge good = [] {
    privacy::Charge c = priced("objective-gamma", {{"objective_rate", 0.1}, {"output_rate", 0}, {"tolerance", 0}});
    c.epsilon = recomputed(c).epsilon;
    return c;
  }();
  privacy::Charge low = good;
  low.epsilon *= 0.99;
  {
    Ledger ledger(book, planned_run("a", 1, 0.2));
    EXPECT_TRUE(ledger.pay({.node = 0, .round = 0, .value = Vector::Ones(2), .charge = {}}));
    EXPECT_TRUE(ledger.pay({.node = 0, .round = 1, .value = Vector::Ones(2), .charge = good}));
    EXPECT_TRUE(verify(*book).wrong.empty());
    EXPECT_TRUE(ledger.pay({.node = 0, .round = 2, .value = Vector::Ones(2), .charge = low}));
    EXPECT_TRUE(
        ledger.pay({.node = 0, .round = 3, .value = Vector::Ones(2), .charge = {.kind = "magic", .epsilon = 0.1}}));
  }
  const Checked checked = verify(*book);
  EXPECT_EQ(checked.charges, 4);
  EXPECT_EQ(checked.releases, 4);
  EXPECT_THAT(checked.wrong,
              testing::ElementsAre(HasSubstr("round 2): charged epsilon 0.04799"), HasSubstr("no theorem covers")));
}

// Whatever happens to the file's bytes: an Error, or the same ledger.
TEST_F(OnFile, DamagedBytesAreNoticedOrHarmless) {
  {
    auto book = create(1.0);
    Ledger ledger(book, planned_run("a", 3, 0.3));
    for (int t = 0; t < 3; ++t) EXPECT_TRUE(ledger.pay(release(0, t, 0.3)));
  }
  const auto damaged = [](const LedgerFile& book) {
    return std::ranges::any_of(verify(book).wrong,
                               [](const std::string& w) { return w.find("damaged") != std::string::npos; });
  };
  const std::string intact = read_file(file, "ledger");
  int noticed = 0, tries = 0;
  for (std::size_t at = 0; at < intact.size(); at += 101, ++tries) {
    std::string bytes = intact;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << (at % 8)));
    write_file(file, bytes);
    try {
      const auto book = open();
      EXPECT_NEAR(book->spent("ward").epsilon(), 0.9, 1e-12) << at;
      if (damaged(*book)) ++noticed;
    } catch (const Error&) {
      ++noticed;
    }
  }
  EXPECT_GT(noticed, 20);
  EXPECT_LT(noticed, tries);
  for (const std::size_t size : {std::size_t{100}, std::size_t{4096}, intact.size() / 2, intact.size() - 1}) {
    write_file(file, intact.substr(0, size));
    bool seen = true;
    try {
      seen = damaged(*open());
    } catch (const Error&) {
    }
    EXPECT_TRUE(seen) << size;
  }
}

TEST_F(OnFile, OtherRowsUnderOneNameAreToldAndAreNothingWrong) {
  create(1.0);
  const auto spend = [&](const std::string& id, const std::string& rows) {
    auto book = open();
    PlannedRun run = planned_run(id, 1, 0.1);
    if (!rows.empty()) {
      Fingerprint print = book->fingerprint();
      print.add(rows);
      run.datasets[0].fingerprint = print.text();
    }
    Ledger(book, run);
  };
  for (const auto& [id, rows] : {std::pair("a", "x"), {"b", "x"}, {"c", ""}}) spend(id, rows);
  EXPECT_TRUE(verify(*open()).other_rows.empty());
  for (const auto& [id, rows] : {std::pair("d", "y"), {"e", "y"}, {"f", "x"}}) spend(id, rows);
  const Checked checked = verify(*open());
  EXPECT_THAT(checked.other_rows,
              testing::ElementsAre("dataset 'ward': 2 of 5 runs have other rows than the run before, by their "
                                   "fingerprints: d, f"));
  EXPECT_TRUE(checked.wrong.empty());
}

}  // namespace
}  // namespace parley::ledger
