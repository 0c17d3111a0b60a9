// The ledger's file: one append-only table of entries in SQLite, one hash chain over all of them.
//   hash_n = SHA-256("parley ledger 1" ‖ hash_{n−1} ‖ n ‖ kind ‖ run ‖ node ‖ round ‖ body ‖ SHA-256(released))
// Durable before acknowledged: WAL with synchronous = FULL, one transaction per append. One process: SQLite's exclusive
// lock is held from opening to closing. Beside FILE stands FILE.lock with the holder's pid and the last head of the
// chain that was reached: an older copy put in FILE's place is noticed at the next opening.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parley/ledger/digest.h"

namespace parley::ledger {

struct Entry {
  std::string kind;  // ledger, cap, run, process, charge, failed
  std::string run{};
  int node = -1, round = -1;
  std::string body;        // JSON
  std::string released{};  // bytes; empty in a listing
  std::int64_t sequence = 0;
  Digest released_hash{};
};

struct Head {
  std::int64_t entries = 0;
  Digest hash{};
};

class LedgerDatabase {
 public:
  // Error when the place of a new ledger holds the remains of another one: its spend still counts.
  static void check_vacant(const std::filesystem::path& file);
  // A ledger of one entry. Error when something stands there.
  static void create(const std::filesystem::path& file, const Entry& first);
  // Locks the file. Error: not there, not a ledger, in use (with the holder's pid), broken chain, older than what it
  // once was, not writable. each: every entry in order, without its released bytes, after its link in the chain was
  // checked.
  static LedgerDatabase open(const std::filesystem::path& file, const std::function<void(const Entry&)>& each);

  // All or nothing, on disk when it returns. Error naming the file when it cannot be written; nothing may be appended
  // after that until the file is opened again.
  void append(std::span<const Entry> entries);

  std::vector<Entry> charges(const std::string& run) const;                                // without released bytes
  std::optional<std::string> released(const std::string& run, int node, int round) const;  // Error when damaged
  // Every entry with its released bytes, and whether these are the ones that were stored.
  void each_release(const std::function<void(const Entry&, bool intact)>& visit) const;

  std::string damage() const;  // what SQLite's own check of the whole file finds; empty: nothing

  const Head& head() const { return head_; }
  const std::filesystem::path& file() const { return file_; }

 private:
  struct Connection;
  explicit LedgerDatabase(std::filesystem::path file);
  void lock();
  void check_head_file() const;
  void write_head_file() const;

  std::filesystem::path file_;
  std::shared_ptr<Connection> connection_;
  Head head_;
  bool failed_ = false;
};

}  // namespace parley::ledger
