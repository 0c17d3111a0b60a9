// Charging on file: caps over runs, resuming, names, fingerprints. Kills and full disks: tests/crash.
#include <sys/prctl.h>
#include <sys/stat.h>

#include <cmath>
#include <fstream>

#include "parley/ledger/ledger_test.h"
#include "parley/privacy/gaussian.h"

namespace parley::ledger {
namespace {

TEST_F(OnFile, SpendAddsUpOverRunsAndSurvivesClosing) {
  {
    auto book = create(1.0);
    for (const char* id : {"a", "b"}) {
      Ledger ledger(book, planned_run(id, 2, 0.2));
      EXPECT_TRUE(ledger.pay(release(0, 0, 0.2)));
      EXPECT_TRUE(ledger.pay(release(0, 1, 0.2)));
      EXPECT_NEAR(ledger.spent(0), 0.4, 1e-15);
    }
  }
  EXPECT_NEAR(open()->spent("ward").epsilon(), 0.8, 1e-15);
  EXPECT_GE(open()->spent("ward").epsilon(), 0.8);
}

TEST_F(OnFile, WhatIsReadBackIsBitForBitWhatWasCharged) {
  double in_process = 0;
  {
    auto book = create(Cap(500, 1e-6));
    Ledger ledger(book, planned_run("a", 0, 0));
    for (int t = 0; t < 20; ++t) EXPECT_TRUE(ledger.pay(release(0, t, std::exp(-t / 3.0) / 3)));
    in_process = book->spent("ward").total();
    EXPECT_GT(in_process, 0);
    EXPECT_EQ(book->spent("ward", 0).total(), ledger.spent(0));
  }
  EXPECT_EQ(open()->spent("ward").total(), in_process);
}

#ifndef PARLEY_SANITIZED
TEST_F(OnFile, WhoHasOpenedOneLeavesNoCoreDump) {
  create(1.0);
  ASSERT_EQ(::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), 0);
  open();
  EXPECT_EQ(::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), 0) << "the key beside it was read";
}
#endif

TEST_F(OnFile, ANewLedgerIsNotMadeInThePlaceOfALostOne) {
  create(1.0);
  fs::remove(file);
  fails([&] { create(1.0); }, {"there was a ledger here", file.string()});
  EXPECT_FALSE(fs::exists(file));
}

TEST_F(OnFile, ARunThatWouldExceedTheCapIsRefusedBeforeItStarts) {
  auto book = create(1.0);
  {
    Ledger(book, planned_run("a", 2, 0.3)).pay(release(0, 0, 0.3));
  }  // aborted after one round: keeps what it spent
  const auto before = book->head();
  fails([&] { Ledger ledger(book, planned_run("b", 3, 0.3)); },
        {"would exceed the cap of dataset 'ward'", "0.3000 spent", "epsilon 1"});
  fails([&] { book->check_room(planned_run("c", 1, 0.3), 3); }, {"(3 runs)"});
  EXPECT_NO_THROW(book->check_room(planned_run("c", 1, 0.3), 2));
  EXPECT_EQ(book->head().entries, before.entries);
  Ledger ledger(book, planned_run("d", 2, 0.3));
  EXPECT_TRUE(ledger.pay(release(0, 0, 0.3)));
  EXPECT_FALSE(ledger.pay(release(0, 1, 0.5)));  // more than planned: the cap holds at each charge, too
  EXPECT_NEAR(book->spent("ward").epsilon(), 0.6, 1e-15);
}

TEST_F(OnFile, ARowSitsAtOneNodeOfARunSoTheLargestNodeCountsAndRunsAdd) {
  auto book = create(1.0);
  for (const char* id : {"a", "b"}) {
    Ledger ledger(book, planned_run(id, 1, 0.4, 2));
    EXPECT_TRUE(ledger.pay_all({release(0, 0, id[0] == 'a' ? 0.4 : 0.1), release(1, 0, id[0] == 'a' ? 0.1 : 0.4)}));
  }
  EXPECT_NEAR(book->spent("ward").epsilon(), 0.8, 1e-15);  // not 0.5: another split may move the row
}

TEST_F(OnFile, DatasetsAreSeparate) {
  auto book = create(0.5);
  book->set_cap("clinic", Cap(2));
  PlannedRun run = planned_run("a", 1, 0.5);
  run.datasets.push_back({.name = "clinic"});
  run.accounts.push_back({.node = 4, .dataset = "clinic", .planned = {release(4, 0, 2).charge}});
  Ledger ledger(book, run);
  EXPECT_TRUE(ledger.pay_all({release(0, 0, 0.5), release(4, 0, 2)}));
  EXPECT_EQ(book->spent("ward").epsilon(), 0.5);
  EXPECT_EQ(book->spent("clinic").epsilon(), 2);
  EXPECT_THROW(ledger.pay(release(1, 0, 0)), std::logic_error);  // not a node of this ledger
}

TEST_F(OnFile, AnUnknownNameIsRefusedAndTheNearestIsOffered) {
  auto book = create(1.0);
  PlannedRun run = planned_run("a", 1, 0.1);
  run.datasets[0].name = run.accounts[0].dataset = "wards";
  fails([&] { Ledger ledger(book, run); }, {"knows no dataset 'wards'", "did you mean 'ward'?", "parley ledger cap"});
  fails([&] { (void)book->warnings_about(run); },
        {"knows no dataset 'wards'"});  // a party that goes on asks this first
}

TEST_F(OnFile, AMissingLedgerIsNotMadeInPassing) {
  fails([&] { open(); }, {"there is no ledger", file.string()});
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST_F(OnFile, NothingElseIsTakenForALedger) {
  std::ofstream(file).close();
  fails([&] { open(); }, {"not a parley ledger"});
  std::ofstream(file) << "name,age\nx,1\n";
  fails([&] { open(); }, {file.string()});
  fs::remove(file);
  sql("CREATE TABLE t(a)");
  fails([&] { open(); }, {"not a parley ledger"});
  fs::remove(file);
  create(1.0);
  fs::create_hard_link(file, folder / "other");
  fails([&] { open(); }, {"second name"});
}

TEST_F(OnFile, AResumedRunGivesBackItsStoredValuesAndChargesOnlyWhatIsNew) {
  {
    Ledger ledger(create(1.0), planned_run("a", 3, 0.2));
    for (int t = 0; t < 2; ++t) {
      privacy::Release r = release(0, t, 0.2);
      r.value *= t + 0.1;
      r.charge.parameters = {{"tolerance", 1e-7}};
      EXPECT_TRUE(ledger.pay(std::move(r)));
    }
    EXPECT_EQ(*ledger.stored(0, 0)->value(), Vector::Ones(3) * 0.1);  // a retry in the same process
    EXPECT_THROW(ledger.pay(release(0, 1, 0.2)), std::logic_error);   // but a second release is a bug
  }
  auto book = open();
  Ledger ledger(book, planned_run("a", 3, 0.2));
  EXPECT_EQ(ledger.last_round(0), 1);
  EXPECT_NEAR(ledger.spent(0), 0.4, 1e-15);
  EXPECT_EQ(ledger.charges(0)[1].parameters[0], std::pair(std::string("tolerance"), 1e-7));
  EXPECT_EQ(*ledger.stored(0, 1)->value(), Vector::Ones(3) * 1.1);
  EXPECT_FALSE(ledger.stored(0, 2));
  const auto again = ledger.pay(release(0, 1, 0.2));  // solved again with fresh noise: dropped
  EXPECT_EQ(*again->value(), Vector::Ones(3) * 1.1);
  EXPECT_NEAR(ledger.spent(0), 0.4, 1e-15);
  EXPECT_TRUE(ledger.pay(release(0, 2, 0.2)));
  EXPECT_NEAR(book->spent("ward").epsilon(), 0.6, 1e-15);
}

TEST_F(OnFile, ARunGoesOnOnlyAsItWasStarted) {
  auto book = create(1.0);
  {
    Ledger ledger(book, planned_run("a", 1, 0.1));
  }
  PlannedRun other = planned_run("a", 1, 0.1);
  other.configuration = "d";
  fails([&] { Ledger ledger(book, other); }, {"its configuration was another one"});
  fails([&] { Ledger ledger(book, planned_run("a", 1, 0.1, 2)); }, {"its nodes were others"});
  Ledger first(book, planned_run("a", 1, 0.1));
  EXPECT_THROW(Ledger(book, planned_run("b", 1, 0.1)), std::logic_error);  // one run at a time
}

TEST_F(OnFile, ARunThatIsNotPrivateNeedsAnUnlimitedDatasetAndCostsInfinitely) {
  auto book = create(1000.0);
  PlannedRun run = planned_run("a", 1, 0.1);
  run.not_private = {"seeded noise"};
  fails([&] { Ledger ledger(book, run); }, {"not private", "seeded noise", "unlimited"});
  book->set_cap("ward", Cap(INFINITY));
  {
    Ledger ledger(book, run);
    EXPECT_TRUE(ledger.pay(release(0, 0, 0)));
    EXPECT_TRUE(ledger.pay(release(0, 1, INFINITY)));
  }
  EXPECT_EQ(book->spent("ward").epsilon(), INFINITY);
  book.reset();
  book = open();
  EXPECT_EQ(book->spent("ward").epsilon(), INFINITY);
  book->set_cap("ward", Cap(1000));  // no way back
  fails([&] { Ledger ledger(book, planned_run("b", 1, 0.1)); }, {"would exceed"});
}

TEST_F(OnFile, ChangedRowsUnderTheSameNameWarnAndKeepTheSpend) {
  auto book = create(1.0);
  const auto print = [&](const std::string& rows) {
    Fingerprint f = book->fingerprint();
    f.add(rows.substr(0, 3));
    f.add(rows.substr(3));
    return f.text();
  };
  EXPECT_EQ(print("age,ward"), print("age,ward"));
  PlannedRun run = planned_run("a", 1, 0.4);
  run.datasets[0].fingerprint = print("age,ward");
  {
    EXPECT_TRUE(Ledger(book, run).pay(release(0, 0, 0.4)));
  }
  EXPECT_TRUE(book->warnings().empty());
  run.id = "b";
  run.datasets[0].fingerprint = print("age,wards");
  {
    Ledger ledger(book, run);
  }
  ASSERT_EQ(book->warnings().size(), 1u);
  EXPECT_THAT(book->warnings()[0], HasSubstr("same name, other rows: the spend is kept"));
  EXPECT_EQ(book->spent("ward").epsilon(), 0.4);
  EXPECT_EQ(run.datasets[0].fingerprint.find("age"), std::string::npos);
}

TEST_F(OnFile, TheFingerprintKeyIsTheOwnersAloneAndItsLossOnlyWarns) {
  create(1.0);
  const fs::path key = file.string() + ".key";
  struct stat status{};
  ASSERT_EQ(stat(key.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  ASSERT_EQ(stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  fs::remove(key);
  auto book = open();
  ASSERT_EQ(book->warnings().size(), 1u);
  EXPECT_THAT(book->warnings()[0], HasSubstr("rows cannot be compared"));
  EXPECT_EQ(book->fingerprint().text(), "");
}

TEST_F(OnFile, ADeltaOfOneRecordOrMoreWarns) {
  auto book = create(Cap(1, 1e-3));
  {
    Ledger ledger(book, planned_run("a", 1, 0.1));
  }
  ASSERT_EQ(book->warnings().size(), 1u);
  EXPECT_THAT(book->warnings()[0], HasSubstr("delta 0.001 is not below 1/B_i = 0.001"));
}

TEST_F(OnFile, CapsAreChecked) {
  auto book = create(1.0);
  fails([&] { book->set_cap("ward", Cap(0)); }, {"no cap"});
  fails([&] { book->set_cap("ward", Cap(-1)); }, {"no cap"});
  fails([&] { book->set_cap("ward", Cap(std::nan(""))); }, {"no cap"});
  fails([&] { book->set_cap("ward", Cap(1, 1)); }, {"no cap"});
  fails([&] { book->set_cap("", Cap(1)); }, {"no name"});
  fails([&] { book->set_cap("a\nb", Cap(1)); }, {"no name"});
  fails([&] { book->set_cap("\xff", Cap(1)); }, {"UTF-8"});
  EXPECT_EQ(book->datasets().at("ward").history.size(), 1u);
  book->set_cap("ward", Cap(0.5, 1e-6));
  EXPECT_EQ(book->datasets().at("ward").history.size(), 2u);
}

// Planners leave 1e-13 free; the rounding of sums must not eat it up.
TEST_F(OnFile, ARunPlannedForExactlyTheCapIsAcceptedWhateverItsNumberOfRounds) {
  constexpr double epsilon = 2, delta = 1e-6, free = 1e-13;
  auto book = create(epsilon, "sums");
  book->set_cap("gdp", Cap(epsilon, delta));
  for (const int rounds : {1, 3, 50, 1000, 20000, 200000}) {
    PlannedRun run{.datasets = {{.name = "sums"}}, .accounts = {{.node = 0, .dataset = "sums"}}};
    run.accounts[0].planned.assign(static_cast<std::size_t>(rounds),
                                   {.kind = "objective-gamma", .epsilon = epsilon / rounds * (1 - free)});
    EXPECT_NO_THROW(book->check_room(run)) << rounds;
    run.accounts[0].planned[0].epsilon += epsilon * 4 * free;  // and not a hair more than the cap
    EXPECT_THROW(book->check_room(run), Error) << rounds;
    run.datasets[0].name = run.accounts[0].dataset = "gdp";
    const double mu = privacy::gdp_mu(epsilon, delta) / std::sqrt(rounds);
    run.accounts[0].planned.assign(static_cast<std::size_t>(rounds),
                                   {.kind = "output-gaussian", .mu = mu * (1 - free)});
    EXPECT_NO_THROW(book->check_room(run)) << rounds;
    run.accounts[0].planned.assign(static_cast<std::size_t>(rounds),
                                   {.kind = "output-gaussian", .mu = mu * (1 + free)});
    EXPECT_THROW(book->check_room(run), Error) << rounds;
  }
}

}  // namespace
}  // namespace parley::ledger
