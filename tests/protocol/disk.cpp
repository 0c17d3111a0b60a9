#include "protocol/disk.h"

#include <algorithm>

#include "parley/base/error.h"

namespace parley::protocol {

class Disk::File : public AppendFile {
 public:
  File(Disk& disk, Fuse fuse) : disk_(disk), fuse_(std::move(fuse)) {}
  std::string name() const override { return "simulated"; }
  std::string read() override { return disk_.content_; }
  void append(std::string_view bytes) override {
    fuse_();
    disk_.unsynced_.push_back({disk_.content_.size(), bytes.size()});
    disk_.content_ += bytes;
    fuse_();
  }
  void sync() override {
    fuse_();
    if (!disk_.sync_lies || disk_.content_.size() < 300) disk_.unsynced_.clear();  // the beginning is well
    fuse_();
  }
  void cut_at(std::uint64_t size) override {
    fuse_();
    disk_.content_.resize(size);
    disk_.unsynced_.clear();
    fuse_();
  }

 private:
  Disk& disk_;
  Fuse fuse_;
};

std::unique_ptr<AppendFile> Disk::open(Fuse fuse) {
  return std::make_unique<File>(*this, std::move(fuse));
}

void Disk::lose_power(PublicRandom& random) {
  std::size_t end = unsynced_.empty() ? content_.size() : unsynced_.front().at;
  for (const Write& write : unsynced_) {
    std::size_t kept = 0;
    switch (random.below(4)) {
      case 0:
        kept = write.size;
        break;
      case 1:
        kept = random.below(write.size + 1);
        break;
      default:
        break;
    }
    std::fill(content_.begin() + static_cast<std::ptrdiff_t>(write.at + kept),
              content_.begin() + static_cast<std::ptrdiff_t>(write.at + write.size), '\0');
    // The length of a file may grow without its bytes.
    if (kept > 0) end = write.at + kept;
    if (random.below(4) == 0) end = write.at + write.size;
  }
  content_.resize(end);
  unsynced_.clear();
}

void LedgerDisk::start(Fuse fuse) {
  fuse_ = std::move(fuse);
  if (forgets && !durable_.empty()) durable_.pop_back();
  account_ = std::make_unique<ledger::Ledger>(nodes_, true);
  paid_.clear();
  for (const privacy::Release& r : durable_) paid_.push_back(*account_->pay(r));
}

std::optional<privacy::Paid> LedgerDisk::pay(privacy::Release release) {
  fuse_();
  expects(release.round == last_round() + 1, "the next round");
  if (account_->spent(release.node) + release.charge.epsilon > limit) return std::nullopt;
  auto paid = account_->pay(release);
  for (auto& before : unsynced_) durable_.push_back(std::move(before));
  unsynced_.clear();
  (late ? unsynced_ : durable_).push_back(std::move(release));
  fuse_();
  paid_.push_back(*paid);
  return paid;
}

std::optional<privacy::Paid> LedgerDisk::stored(int round) const {
  if (round < 0 || round > last_round()) return std::nullopt;
  return paid_[static_cast<std::size_t>(round)];
}

}  // namespace parley::protocol
