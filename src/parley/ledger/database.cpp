#include "parley/ledger/database.h"

#include <unistd.h>

#include <cstdio>

#include "parley/base/durable.h"
#include "parley/base/error.h"
#include "parley/base/failpoint.h"
#include "parley/ledger/connection.h"

namespace parley::ledger {
namespace {

namespace fs = std::filesystem;

void put(std::string& bytes, std::int64_t value) {
  for (int shift = 0; shift < 64; shift += 8)
    bytes += static_cast<char>((static_cast<std::uint64_t>(value) >> shift) & 0xff);
}

void put(std::string& bytes, std::string_view text) {
  put(bytes, static_cast<std::int64_t>(text.size()));
  bytes += text;
}

std::string_view view(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

Digest chained(const Digest& previous, const Entry& e) {
  std::string bytes = "parley ledger 1";
  bytes += view(previous);
  put(bytes, e.sequence);
  put(bytes, e.kind);
  put(bytes, e.run);
  put(bytes, static_cast<std::int64_t>(e.node));
  put(bytes, static_cast<std::int64_t>(e.round));
  put(bytes, e.body);
  bytes += view(e.released_hash);
  return sha256(bytes);
}

constexpr const char* listing = "SELECT sequence, kind, run, node, round, body, released_hash, hash FROM entry";

bool read_entry(const Statement& row, Entry& e, Digest& hash) {
  e.sequence = row.integer(0);
  e.kind = row.bytes(1);
  e.run = row.bytes(2);
  e.node = static_cast<int>(row.integer(3));
  e.round = static_cast<int>(row.integer(4));
  e.body = row.bytes(5);
  return row.digest(6, e.released_hash) && row.digest(7, hash);
}

}  // namespace

LedgerDatabase LedgerDatabase::open(const fs::path& file, const std::function<void(const Entry&)>& each) {
  std::error_code code;
  if (!fs::exists(file, code))
    throw Error({.what = "there is no ledger",
                 .where = file.string(),
                 .fix = "'parley ledger cap " + file.string() +
                        " --dataset NAME --epsilon E' makes one; if there was one, find it: its spend still counts"});
  if (!fs::is_regular_file(file, code) || fs::file_size(file, code) == 0)
    throw Error(
        {.what = "not a parley ledger", .where = file.string(), .fix = "name the file 'parley ledger cap' made"});
  if (fs::hard_link_count(file, code) != 1)
    throw Error(
        {.what = "the ledger has a second name (hard link): what was charged under one may be missing under the other",
         .where = file.string(),
         .fix = "remove the other link"});
  LedgerDatabase database(fs::canonical(file));
  database.lock();
  Statement rows(database.connection_->db, (std::string(listing) + " ORDER BY sequence").c_str());
  if (!rows.good()) database.connection_->fail("read", database.file_);
  int step = SQLITE_ROW;
  while ((step = rows.step()) == SQLITE_ROW) {
    Entry e;
    Digest hash{};
    const bool whole = read_entry(rows, e, hash);
    if (!whole || e.sequence != database.head_.entries + 1 || chained(database.head_.hash, e) != hash)
      throw Error({.what = "the chain of the ledger is broken at entry " + std::to_string(database.head_.entries + 1) +
                           ": it was changed outside parley or damaged",
                   .where = database.file_.string(),
                   .fix = "nothing was released; restore the newest intact copy and run 'parley ledger verify' with "
                          "your records"});
    database.head_ = {e.sequence, hash};
    database.hashes_.push_back(hash);
    each(e);
  }
  if (step != SQLITE_DONE) database.connection_->fail("read", database.file_);
  if (database.hashes_.empty())
    throw Error({.what = "not a parley ledger: it has no first entry",
                 .where = database.file_.string(),
                 .fix = "restore the newest intact copy and run 'parley ledger verify' with your records"});
  database.look_at_memory();
  return database;
}

void LedgerDatabase::append(std::span<const Entry> entries, First first) {
  expects(!failed_, "no charge after the ledger failed");
  failed_ = true;  // until all of it is on disk
  Connection& c = *connection_;
  Head next = head_;
  std::vector<Entry> chain;  // without released bytes
  std::vector<Digest> hashes;
  for (const Entry& given : entries) {
    chain.push_back(
        {.kind = given.kind, .run = given.run, .node = given.node, .round = given.round, .body = given.body});
    chain.back().sequence = next.entries + 1;
    chain.back().released_hash = sha256(given.released);
    next = {chain.back().sequence, chained(next.hash, chain.back())};
    hashes.push_back(next.hash);
  }
  if (first == First::memory) {
    failpoint("before the memory leads");
    c.memory->update({.ledger = identity(), .head = next});
    c.memory->sync();
    failpoint("after the memory leads");
  }
  failpoint("before the transaction");
  c.run("BEGIN IMMEDIATE", "write", file_);
  const auto abandon = [&] {
    const int code = sqlite3_extended_errcode(c.db);
    const std::string reason = sqlite3_errmsg(c.db);
    sqlite3_exec(c.db, "ROLLBACK", nullptr, nullptr, nullptr);
    throw Error({.what = "cannot write the ledger: " + reason + " (" + std::to_string(code) + ")",
                 .where = file_.string(),
                 .fix = "nothing was released; check free space, permissions and the disk, then start again"});
  };
  {
    Statement insert(c.db, "INSERT INTO entry VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)");
    if (!insert.good()) abandon();
    for (std::size_t i = 0; i < chain.size(); ++i) {
      const Entry& e = chain[i];
      insert.bind(1, e.sequence);
      insert.bind_text(2, e.kind);
      insert.bind_text(3, e.run);
      insert.bind(4, e.node);
      insert.bind(5, e.round);
      insert.bind_text(6, e.body);
      insert.bind_blob(7, view(e.released_hash));
      insert.bind_blob(8, view(hashes[i]));
      insert.bind_blob(9, entries[i].released);
      failpoint("before an insert");
      if (insert.step() != SQLITE_DONE) abandon();
      insert.reset();
    }
  }
  failpoint("before the commit");
  if (sqlite3_exec(c.db, "COMMIT", nullptr, nullptr, nullptr) != SQLITE_OK) abandon();
  failpoint("after the commit");
  head_ = next;
  hashes_.insert(hashes_.end(), hashes.begin(), hashes.end());
  if (c.memory->kept()) c.memory->update({.ledger = identity(), .head = head_});
  failed_ = false;
  failpoint("before the return");
}

std::vector<Entry> LedgerDatabase::charges(const std::string& run) const {
  Statement rows(connection_->db,
                 (std::string(listing) + " WHERE kind = 'charge' AND run = ? ORDER BY sequence").c_str());
  if (!rows.good()) connection_->fail("read", file_);
  rows.bind_text(1, run);
  std::vector<Entry> all;
  Digest ignored{};
  int step = SQLITE_ROW;
  while ((step = rows.step()) == SQLITE_ROW) read_entry(rows, all.emplace_back(), ignored);
  if (step != SQLITE_DONE) connection_->fail("read", file_);
  return all;
}

std::optional<std::string> LedgerDatabase::released(const std::string& run, int node, int round) const {
  Statement row(
      connection_->db,
      "SELECT released, released_hash FROM entry WHERE kind = 'charge' AND run = ? AND node = ? AND round = ?");
  if (!row.good()) connection_->fail("read", file_);
  row.bind_text(1, run);
  row.bind(2, node);
  row.bind(3, round);
  const int step = row.step();
  if (step == SQLITE_DONE) return std::nullopt;
  if (step != SQLITE_ROW) connection_->fail("read", file_);
  Digest hash{};
  std::string bytes = row.bytes(0);
  if (!row.digest(1, hash) || sha256(bytes) != hash)
    throw Error({.what = "the stored release of node " + std::to_string(node) + ", round " + std::to_string(round) +
                         " of run " + run + " is damaged",
                 .where = file_.string(),
                 .fix = "nothing was sent; restore the newest intact copy"});
  return bytes;
}

void LedgerDatabase::each_release(const std::function<void(const Entry&, bool)>& visit) const {
  Statement rows(
      connection_->db,
      "SELECT sequence, kind, run, node, round, body, released_hash, hash, released FROM entry ORDER BY sequence");
  if (!rows.good()) connection_->fail("read", file_);
  int step = SQLITE_ROW;
  while ((step = rows.step()) == SQLITE_ROW) {
    Entry e;
    Digest ignored{};
    read_entry(rows, e, ignored);
    e.released = rows.bytes(8);
    visit(e, sha256(e.released) == e.released_hash);
  }
  if (step != SQLITE_DONE) connection_->fail("read", file_);
}

std::string LedgerDatabase::damage() const {
  Statement check(connection_->db, "PRAGMA integrity_check(1)");
  if (!check.good() || check.step() != SQLITE_ROW) return sqlite3_errmsg(connection_->db);
  const std::string found = check.bytes(0);
  return found == "ok" ? "" : found;
}

bool LedgerDatabase::contains(const Head& head) const {
  return head.entries >= 1 && head.entries <= head_.entries &&
         hashes_[static_cast<std::size_t>(head.entries - 1)] == head.hash;
}

fs::path LedgerDatabase::memory_file() const {
  return connection_->memory->path();
}

// A ledger of one entry has charged nothing: its maker was killed before the memory was made.
void LedgerDatabase::look_at_memory() {
  auto found = connection_->memory->read();
  if (!connection_->memory->there()) {
    if (const auto earlier = memory_in_lock(file_)) found = NewestHead::Content{.ledger = identity(), .head = *earlier};
    in_lock_ = found.has_value();
    memory_ = head_.entries == 1 ? Memory::fits : Memory::missing;
  } else {
    memory_ = Memory::damaged;
  }
  if (!found) return;
  remembered_ = found->head;
  memory_ = found->ledger != identity() ? Memory::another : contains(found->head) ? Memory::fits : Memory::newer;
}

void LedgerDatabase::remember() {
  NewestHead& memory = *connection_->memory;
  const NewestHead::Content now{.ledger = identity(), .head = head_};
  const auto there = memory.read();
  if (there && there->ledger == identity())
    memory.update(now);
  else
    memory.create(now);
  char pid[16];
  std::snprintf(pid, sizeof pid, "%10ld\n", static_cast<long>(::getpid()));
  write_private_file(file_.string() + ".lock", pid);
}

}  // namespace parley::ledger
