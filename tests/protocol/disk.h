// The disks of one simulated machine: a transcript that forgets what was not synced, and a ledger that keeps what it
// was paid. Every operation is a place where the process may die.
#pragma once
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "parley/base/append_file.h"
#include "parley/base/public_random.h"
#include "parley/ledger/ledger.h"

namespace parley::protocol {

struct Crashed {};  // thrown where the process dies

// Called before and after each operation; may throw Crashed.
using Fuse = std::function<void()>;

class Disk {
 public:
  std::unique_ptr<AppendFile> open(Fuse fuse);

  // Power is lost: each write that was not synced is kept, torn, lost or left as zeros, one by one.
  void lose_power(PublicRandom& random);

  bool sync_lies = false;  // a twin: acknowledges before it has synced
  const std::string& content() const { return content_; }
  void restore(std::string content) { content_ = std::move(content), unsynced_.clear(); }

 private:
  class File;
  struct Write {
    std::size_t at, size;
  };
  std::string content_;  // as a reader of the running machine sees it
  std::vector<Write> unsynced_;
};

// The rules are those of ledger::Ledger (it makes every Paid); what is durable outlives the process.
class LedgerDisk {
 public:
  explicit LedgerDisk(int nodes) : nodes_(nodes) {}

  void start(Fuse fuse);  // a new process opens it
  std::optional<privacy::Paid> pay(privacy::Release release);
  std::optional<privacy::Paid> stored(int round) const;
  int last_round() const { return static_cast<int>(paid_.size()) - 1; }
  double spent(int node) const { return account_->spent(node); }

  // What survives a power cut, whatever happens.
  const std::vector<privacy::Release>& durable() const { return durable_; }
  void restore(std::size_t rounds) { durable_.resize(rounds); }
  void lose_power() { unsynced_.clear(); }

  double limit = std::numeric_limits<double>::infinity();  // of Σε here: what the cap and the earlier parts leave
  bool late = false;                                       // a twin: stored only when the next release is paid
  bool forgets = false;  // a twin: the last release is not there when it is opened again

 private:
  int nodes_;
  Fuse fuse_;
  std::vector<privacy::Release> durable_, unsynced_;
  std::unique_ptr<ledger::Ledger> account_;
  std::vector<privacy::Paid> paid_;
};

}  // namespace parley::protocol
