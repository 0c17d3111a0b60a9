// FILE.lock beside a ledger: "pid entries hash checksum", the process that holds the ledger and the last head of the
// chain it reached, in two lines that are written one after the other: a write torn in one leaves the other. Not
// synced: if it lags behind the ledger it only notices less.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace parley::ledger {

class HeadFile {
 public:
  explicit HeadFile(const std::filesystem::path& ledger) : path_(ledger.string() + ".lock") {}

  struct Content {
    long pid = 0;
    std::int64_t entries = 0;
    std::string hash;
  };
  std::optional<Content> read() const;  // nullopt: not there, or no line of it whole
  void write(std::int64_t entries, const std::string& hash);

 private:
  std::filesystem::path path_;
  std::shared_ptr<int> descriptor_;
};

}  // namespace parley::ledger
