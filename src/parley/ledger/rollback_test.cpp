// Rollback (R17): the memory beside a ledger, the heads in records, and what its owner accepts.
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <random>

#include "parley/base/digest.h"
#include "parley/base/text.h"
#include "parley/ledger/ledger_test.h"
#include "parley/ledger/verify.h"

namespace parley::ledger {
namespace {

using Open = LedgerFile::Open;

class Rollback : public OnFile {
 protected:
  fs::path memory() const { return file.string() + ".newest-head"; }
  fs::path lock() const { return file.string() + ".lock"; }
  std::string text(const fs::path& path) const { return read_file(path, "it"); }

  // Of one round that cost 0.2, with a record that says how the ledger stood; returned as its head.
  std::string spend(const std::string& id, const fs::path& record = {}) {
    auto book = open();
    PlannedRun run = planned_run(id, 1, 0.2);
    run.folder = record;
    Ledger ledger(book, run);
    EXPECT_TRUE(ledger.pay(release(0, 0, 0.2)));
    if (!record.empty()) write_record(record, book->recorded_head());
    return hex(book->head().hash);
  }
  static void write_record(const fs::path& record, const nlohmann::json& head) {
    fs::create_directories(record);
    write_file(record / "run.json", nlohmann::json{{"outcome", "completed"}, {"ledger_head", head}}.dump());
  }
  // As earlier versions wrote it, with the pid 7.
  static std::string line_in_lock(const Head& head) {
    char line[128];
    std::snprintf(line, sizeof line, "%10d %20lld %s", 7, static_cast<long long>(head.entries), hex(head.hash).c_str());
    return line + (" " + hex(sha256(line)).substr(0, 16)) + "\n";
  }
  void refused(const std::vector<std::string>& says) {
    const std::string before = text(file);
    fails([&] { open(); }, says);
    fails([&] { create(9.0); }, says);
    EXPECT_EQ(text(file), before);
  }
};

TEST_F(Rollback, RemovingTheLockRemovesNothing) {
  create(1.0);
  spend("a");
  EXPECT_LT(text(lock()).size(), 20U);  // a process id and nothing else
  fs::remove(lock());
  EXPECT_TRUE(open()->warnings().empty());
  EXPECT_TRUE(fs::exists(lock()));
}

TEST_F(Rollback, AnOldCopyWithoutLockAndMemoryIsRefusedAndCanOnlyBeRead) {
  create(1.0);
  fs::copy_file(file, folder / "backup");
  spend("a");
  fs::copy_file(folder / "backup", file, fs::copy_options::overwrite_existing);
  fs::remove(lock());
  fs::remove(memory());
  refused({"the memory of this ledger is missing", memory().string(), "parley ledger accept " + file.string()});
  auto book = std::make_shared<LedgerFile>(file, Open::to_read);
  EXPECT_EQ(book->spent("ward").epsilon(), 0);
  ASSERT_TRUE(book->doubt());
  EXPECT_THAT(verify(*book).wrong, testing::ElementsAre(HasSubstr("memory of this ledger is missing")));
  EXPECT_THROW(book->set_cap("ward", Cap(2)), std::logic_error);
  EXPECT_THROW(Ledger(book, planned_run("b", 1, 0.1)), std::logic_error);
  EXPECT_FALSE(fs::exists(memory()));  // reading does not make it
}

TEST_F(Rollback, WhateverIsNotByteForByteWhatWasWrittenIsRefused) {
  create(1.0);
  spend("a");
  const std::string whole = text(memory());
  EXPECT_LT(whole.size(), 512U);
  int tries = 0;
  const auto is_refused = [&](const std::string& bytes) {
    write_file(memory(), bytes);
    fails([&] { open(); }, {"the memory", memory().string(), "parley ledger accept"});
    EXPECT_TRUE(LedgerFile(file, Open::to_read).doubt());
    EXPECT_EQ(text(memory()), bytes);  // and left as it is
    ++tries;
  };
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << (at % 8)));
    is_refused(flipped);
    is_refused(whole.substr(0, at));
  }
  is_refused(whole + "\n");
  is_refused(std::string(100000, 'x'));
  std::mt19937 draw(1);
  for (int n = 0; n < 100; ++n) {
    std::string mixed = whole;
    for (int k = 0; k < 1 + n % 5; ++k) mixed[draw() % mixed.size()] = mixed[draw() % mixed.size()];
    if (mixed != whole) is_refused(mixed);
  }
  EXPECT_GT(tries, 2 * static_cast<int>(whole.size()) + 80);
  write_file(memory(), whole);
  EXPECT_NO_THROW(open());
  fs::remove(memory());
  fs::create_directory(memory());
  fails([&] { open(); }, {"damaged"});
}

TEST_F(Rollback, TheMemoryOfAnotherLedgerIsRefused) {
  create(1.0);
  const fs::path mine = file;
  file = folder / "other.db";
  create(1.0);
  fs::copy_file(mine.string() + ".newest-head", memory(), fs::copy_options::overwrite_existing);
  refused({"that of another ledger", memory().string()});
}

TEST_F(Rollback, AMemoryThatLagsBehindFitsAndIsBroughtUpToDate) {
  create(1.0);
  const std::string old = text(memory());
  spend("a");
  const std::string newest = text(memory());
  EXPECT_NE(old, newest);
  write_file(memory(), old);  // killed after the commit, or the power failed before it was on disk
  EXPECT_EQ(open()->spent("ward").epsilon(), 0.2);
  EXPECT_EQ(text(memory()), newest);
}

TEST_F(Rollback, ALedgerThatHasChargedNothingYetMayBeWithoutMemory) {
  {
    const LedgerFile made(file, Open::create_if_missing);
  }
  fs::remove(memory());  // killed before it was made
  EXPECT_NO_THROW(create(1.0));
  EXPECT_TRUE(fs::exists(memory()));
}

TEST_F(Rollback, AnOlderOrAForkedCopyIsRefusedForReadingToo) {
  create(1.0);
  fs::copy_file(file, folder / "backup");
  spend("a");
  const std::string newest = text(memory());
  fs::copy_file(folder / "backup", file, fs::copy_options::overwrite_existing);
  refused({"your ledger is older than what you have released"});
  fails([&] { LedgerFile(file, Open::to_read); }, {"your ledger is older than what you have released"});
  fs::remove(memory());
  LedgerFile(file, Open::to_accept).accept("a test", "now", {});
  spend("b");
  spend("c");
  write_file(memory(), newest);  // the memory of the branch that was left: as many entries and more, other ones
  refused({"your ledger is older than what you have released, or another one"});
}

TEST_F(Rollback, AnAcceptanceIsAnEntryAndMakesTheMemoryAnew) {
  create(1.0);
  spend("a");
  fs::remove(memory());
  fails([&] { LedgerFile(file, Open::to_accept).accept("", "now", {}); }, {"no reason"});
  fails([&] { LedgerFile(file, Open::to_accept).accept("a\nb", "now", {}); }, {"no reason"});
  fails([&] { LedgerFile(file, Open::to_accept).accept("x", "now", {folder}); }, {"holds no newer head"});
  EXPECT_FALSE(fs::exists(memory()));
  LedgerFile(file, Open::to_accept).accept("the disk failed", "20261116-021500", {});
  auto book = open();
  ASSERT_EQ(book->acceptances().size(), 1U);
  EXPECT_EQ(book->acceptances()[0].memory, "missing");
  EXPECT_EQ(book->acceptances()[0].entry, book->head().entries);
  EXPECT_THAT(book->acceptances()[0].sentence(),
              testing::AllOf(HasSubstr("entry 5, 20261116-021500"), HasSubstr("without its memory"),
                             HasSubstr("the disk failed")));
  const Checked checked = verify(*book);
  EXPECT_THAT(checked.wrong, testing::Not(testing::Contains(HasSubstr("memory"))));
  EXPECT_EQ(checked.accepted.size(), 1U);
  EXPECT_EQ(book->spent("ward").epsilon(), 0.2);
  book.reset();
  spend("b");
  write_file(memory(), "x");
  LedgerFile(file, Open::to_accept).accept("again", "later", {});
  EXPECT_EQ(open()->acceptances()[1].memory, "damaged");
  LedgerFile(file, Open::to_accept).accept("restored with its memory", "later", {});  // its owner says so
  EXPECT_EQ(open()->acceptances()[2].memory, "fits");
}

TEST_F(Rollback, TheMemoryOfAnEarlierVersionIsMovedOutOfTheLockOnce) {
  create(1.0);
  spend("a");
  const std::string line = line_in_lock(open()->head());
  fs::remove(memory());
  write_file(lock(), "torn" + line.substr(4) + line);  // one line is enough, as it was
  {
    auto book = open();
    ASSERT_EQ(book->warnings().size(), 1U);
    EXPECT_THAT(book->warnings()[0], testing::AllOf(HasSubstr("has moved"), HasSubstr(memory().string())));
  }
  EXPECT_TRUE(open()->warnings().empty());
  fs::remove(memory());
  refused({"the memory of this ledger is missing"});  // it is in the lock no more

  fs::copy_file(file, folder / "backup");
  LedgerFile(file, Open::to_accept).accept("a test", "now", {});
  write_file(lock(), line_in_lock(open()->head()));
  fs::remove(memory());
  fs::copy_file(folder / "backup", file, fs::copy_options::overwrite_existing);
  const std::string before = text(lock());
  refused({"your ledger is older than what you have released"});
  EXPECT_EQ(text(lock()), before);  // what a refused process has read is still there for the next
}

// The memory was put back with the old copy, or was lost and accepted: the records of runs still tell.
TEST_F(Rollback, ARecordWithANewerHeadIsNoticedEvenAfterAnAcceptanceThatDoesNotNameIt) {
  const fs::path runs = folder / "runs";
  create(1.0);
  spend("a", runs / "a" / "");
  EXPECT_EQ(open()->find_run("a")->folder, (runs / "a").string());
  const std::string old = text(file), old_memory = text(memory());
  spend("b", runs / "b");  // after the copy was made, so the copy does not know its folder: it stands beside a
  const std::string newest = text(file), newest_memory = text(memory());

  write_file(file, old);
  write_file(memory(), old_memory);
  refused({"your ledger is older than what you have released", (runs / "b").string()});
  fails([&] { LedgerFile(file, Open::to_read); }, {(runs / "b").string()});
  fs::remove(memory());
  fails([&] { LedgerFile(file, Open::to_accept).accept("lost", "now", {}); },
        {(runs / "b").string(), "name every one"});
  LedgerFile(file, Open::to_accept).accept("lost", "now", {runs / "b"});
  spend("c", runs / "c");
  EXPECT_THAT(open()->acceptances()[0].sentence(), HasSubstr((runs / "b").string()));
  EXPECT_NEAR(open()->spent("ward").epsilon(), 0.4, 1e-15);

  write_file(file, newest);  // the two branches of one ledger: each shows that the other has spent
  write_file(memory(), newest_memory);
  refused({(runs / "c").string()});
  fs::rename(runs / "c", folder / "moved away");
  EXPECT_NO_THROW(open());
}

TEST_F(Rollback, RecordsOfOtherLedgersAndWhatIsNoRecordAreLeftAlone) {
  const fs::path runs = folder / "runs";
  create(1.0);
  spend("a", runs / "a");
  const nlohmann::json mine = open()->recorded_head();
  write_record(runs / "b", {{"ledger", std::string(64, '0')}, {"head", std::string(64, '1')}});
  write_record(runs / "c", {{"ledger", mine["ledger"]}, {"head", 7}});
  write_record(runs / "d", mine["ledger"]);
  fs::create_directories(runs / "e");
  write_file(runs / "e" / "run.json", "{\"ledger_head\": \"" + mine["ledger"].get<std::string>() + "\", [");
  write_file(runs / "f", "a file");
  EXPECT_NO_THROW(open());
  nlohmann::json planted = mine;  // by somebody who was given the record of a, and has not the key
  planted["head"] = std::string(64, '1');
  write_record(runs / "g", planted);
  EXPECT_NO_THROW(open());
  fs::remove(file.string() + ".key");  // then nothing tells it from a head of this ledger's
  refused({(runs / "g").string()});
}

TEST_F(Rollback, ARecordTellsWhichLedgerAndNothingElse) {
  create(1.0);
  const nlohmann::json head = open()->recorded_head();
  EXPECT_EQ(head.size(), 3U);
  EXPECT_TRUE(is_hex(head["ledger"].get<std::string>(), 64) && is_hex(head["head"].get<std::string>(), 64));
}

// A peer's proof that more was released than stands here: no other run begins, nothing is charged and no cap is set
// until the owner accepts, and whoever looks is told.
TEST_F(Rollback, AProofThatItIsOldClosesALedgerUntilItsOwnerAcceptsIt) {
  create(1.0);
  spend("a");
  const Digest evidence = sha256("a signed message");
  {
    auto book = open();
    Ledger ledger(book, planned_run("b", 2, 0.1));
    book->accuse("b", "alpha has round 7 of beta, and the ledger ends with 0", evidence);
    book->accuse("b", "the same message, shown by another", evidence);
    EXPECT_EQ(book->accusations().size(), 1U);
    fails([&] { ledger.pay(release(0, 0, 0.1)); }, {"your ledger is older than what you have released"});
  }
  auto book = open();
  ASSERT_NE(book->open_accusation(), nullptr);
  EXPECT_EQ(book->proved_old_in("b"), "alpha has round 7 of beta, and the ledger ends with 0");
  EXPECT_EQ(book->proved_old_in("a"), std::nullopt);
  const std::vector<std::string> says = {"your ledger is older than what you have released", "entry 6",
                                         "alpha has round 7", "parley ledger accept " + file.string()};
  fails([&] { book->check_room(planned_run("c", 1, 0.1)); }, says);
  fails([&] { Ledger(book, planned_run("a", 1, 0.2)); }, says);  // a run that it has may not go on either
  fails([&] { book->set_cap("ward", Cap(5)); }, says);
  EXPECT_NO_THROW(book->check_room(planned_run("b", 2, 0.1)));  // which says so to its peers, and is charged nothing
  EXPECT_THAT(verify(*book).wrong, testing::Contains(HasSubstr("alpha has round 7")));
  book.reset();

  LedgerFile(file, Open::to_accept).accept("disk failed", "now", {});
  spend("c");
  EXPECT_THAT(open()->acceptances().at(0).sentence(),
              HasSubstr("although a peer had proved that it is older (entry 6)"));
  EXPECT_THAT(verify(*open()).wrong, testing::Not(testing::Contains(HasSubstr("older"))));
  auto later = open();
  later->accuse("b", "what its owner has accepted, shown again", evidence);
  EXPECT_EQ(later->open_accusation(), nullptr);
  later->accuse("b", "alpha has round 8 of beta, and the ledger ends with 0", sha256("another message"));
  EXPECT_NE(later->open_accusation(), nullptr);  // that is news
}

}  // namespace
}  // namespace parley::ledger
