// The ledger's file: one append-only table of entries in SQLite, one hash chain over all of them.
//   hash_n = SHA-256("parley ledger 1" ‖ hash_{n−1} ‖ n ‖ kind ‖ run ‖ node ‖ round ‖ body ‖ SHA-256(released))
// Durable before acknowledged: WAL with synchronous = FULL, one transaction per append. One process: SQLite's exclusive
// lock is held from opening to closing, and FILE.lock tells others the holder's pid; it may be removed. What tells an
// older copy in FILE's place from the newest is FILE.newest-head (newest_head.h).
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
#include "parley/ledger/newest_head.h"

namespace parley::ledger {

struct Entry {
  std::string kind;  // ledger, cap, run, process, charge, failed, accused, accepted
  std::string run{};
  int node = -1, round = -1;
  std::string body;        // JSON
  std::string released{};  // bytes; empty in a listing
  std::int64_t sequence = 0;
  Digest released_hash{};
};

// What FILE.newest-head says about this ledger.
enum class Memory {
  fits,     // the chain contains the head that it remembers
  missing,  // and there was one: the ledger has more than its first entry
  damaged,
  another,  // of another ledger
  newer,    // the ledger once had a head that it does not contain
};

class LedgerDatabase {
 public:
  // Error when the place of a new ledger holds the remains of another one: its spend still counts.
  static void check_vacant(const std::filesystem::path& file);
  // A ledger of one entry. Error when something stands there.
  static void create(const std::filesystem::path& file, const Entry& first);
  // Locks the file. Error: not there, not a ledger, in use (with the holder's pid), broken chain, not writable. each:
  // every entry in order, without its released bytes, after its link in the chain was checked. Whoever goes on to
  // append looks at memory() first, and calls remember().
  static LedgerDatabase open(const std::filesystem::path& file, const std::function<void(const Entry&)>& each);

  // All or nothing, on disk when it returns. Error naming the file when it cannot be written; nothing may be appended
  // after that until the file is opened again. First::memory: the memory knows of the entries before they are there, so
  // that a kill in between leaves a ledger that is refused as older than its memory.
  enum class First { entries, memory };
  void append(std::span<const Entry> entries, First first = First::entries);

  std::vector<Entry> charges(const std::string& run) const;                                // without released bytes
  std::optional<std::string> released(const std::string& run, int node, int round) const;  // Error when damaged
  // Every entry with its released bytes, and whether these are the ones that were stored.
  void each_release(const std::function<void(const Entry&, bool intact)>& visit) const;

  std::string damage() const;  // what SQLite's own check of the whole file finds; empty: nothing

  const Head& head() const { return head_; }
  const Digest& identity() const { return hashes_.front(); }  // the first entry's hash
  bool contains(const Head& head) const;
  const std::vector<Digest>& hashes() const { return hashes_; }  // of all entries in order

  Memory memory() const { return memory_; }
  const Head& remembered() const { return remembered_; }  // where memory() is newer
  bool memory_is_in_lock() const { return in_lock_; }     // where earlier versions kept it, until remember()
  std::filesystem::path memory_file() const;
  // The head as it is becomes what is remembered, and from now on so does that of every append. On disk where there was
  // no memory of this ledger before. Error when it cannot be written.
  void remember();

  const std::filesystem::path& file() const { return file_; }

 private:
  struct Connection;
  explicit LedgerDatabase(std::filesystem::path file);
  void lock();
  void look_at_memory();

  std::filesystem::path file_;
  std::shared_ptr<Connection> connection_;
  Head head_;
  std::vector<Digest> hashes_;
  Memory memory_ = Memory::missing;
  Head remembered_;
  bool in_lock_ = false;
  bool failed_ = false;
};

}  // namespace parley::ledger
