#include "parley/ledger/head.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include "parley/base/error.h"
#include "parley/ledger/digest.h"

namespace parley::ledger {

namespace {

std::string checksum(const std::string& text) {
  return hex(sha256(text)).substr(0, 16);
}

// Of fixed width, so that a line is always overwritten as a whole.
std::string line_of(long pid, std::int64_t entries, const std::string& hash) {
  char text[128];
  std::snprintf(text, sizeof text, "%10ld %20lld %s", pid, static_cast<long long>(entries), hash.c_str());
  return text + (" " + checksum(text)) + "\n";
}

}  // namespace

std::optional<HeadFile::Content> HeadFile::read() const {
  std::ifstream in(path_);
  std::optional<Content> newest;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    Content content;
    if (!(words >> content.pid >> content.entries >> content.hash)) continue;
    if (line + "\n" != line_of(content.pid, content.entries, content.hash)) continue;
    if (!newest || content.entries > newest->entries) newest = content;
  }
  return newest;
}

void HeadFile::write(std::int64_t entries, const std::string& hash) {
  if (!descriptor_)
    descriptor_ = {new int(::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)), [](const int* d) {
                     if (*d >= 0) ::close(*d);
                     delete d;
                   }};
  const std::string line = line_of(::getpid(), entries, hash);
  const auto size = static_cast<ssize_t>(line.size());
  const auto write_at = [&](off_t at) { return ::pwrite(*descriptor_, line.data(), line.size(), at) == size; };
  if (*descriptor_ < 0 || !write_at(0) || !write_at(size))
    throw Error({.what = "cannot write beside the ledger: " + std::string(std::strerror(errno)),
                 .where = path_.string(),
                 .fix = "nothing was released; check free space and permissions"});
}

}  // namespace parley::ledger
