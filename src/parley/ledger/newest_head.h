// The memory of a ledger against rollback (R17): FILE.newest-head beside FILE holds the newest head that the chain has
// reached, and which ledger that is. An older copy in FILE's place does not contain that head.
//   Written after the commit is on disk: it may lag behind the ledger. It leads for a proof that the ledger is old, and
//   for nothing else: a kill in between then leaves a ledger that is refused.
//   Overwritten in place by one write of less than a sector: neither a kill nor a power cut leaves half of it. So
//   whatever is not byte for byte what was written is damage, and there is no second copy that could hide it.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include "parley/base/digest.h"
#include "parley/base/durable.h"

namespace parley::ledger {

struct Head {
  std::int64_t entries = 0;
  Digest hash{};
};

class NewestHead {
 public:
  explicit NewestHead(const std::filesystem::path& ledger) : path_(ledger.string() + ".newest-head") {}
  NewestHead(const NewestHead&) = delete;
  NewestHead& operator=(const NewestHead&) = delete;
  ~NewestHead();  // and on disk

  struct Content {
    Digest ledger{};  // the hash of its first entry, which holds a random id
    Head head;
  };
  bool there() const;
  std::optional<Content> read() const;  // nullopt: not there, or damaged

  void create(const Content& content);            // in place of whatever stands there, on disk when it returns; Error
  void update(const Content& content);            // of a file that is whole; Error
  void sync();                                    // Error
  bool kept() const { return file_ != nullptr; }  // by this process: created or updated

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::unique_ptr<Descriptor> file_;
};

// What earlier versions kept in FILE.lock: "pid entries hash checksum", twice. nullopt: no whole line of that.
std::optional<Head> memory_in_lock(const std::filesystem::path& ledger);

}  // namespace parley::ledger
