#include "parley/privacy/ledger_head.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "parley/base/error.h"

namespace parley::privacy {

std::optional<HeadFile::Content> HeadFile::read() const {
  std::ifstream in(path_);
  Content content;
  if (!(in >> content.pid >> content.entries >> content.hash) || content.entries < 1 || content.hash.size() != 64)
    return std::nullopt;
  return content;
}

void HeadFile::write(std::int64_t entries, const std::string& hash) {
  if (!descriptor_)
    descriptor_ = {new int(::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)), [](const int* d) {
                     if (*d >= 0) ::close(*d);
                     delete d;
                   }};
  char text[128];  // of fixed width, so that it is always overwritten as a whole
  const int size = std::snprintf(text, sizeof text, "%10ld %20lld %s\n", static_cast<long>(::getpid()),
                                 static_cast<long long>(entries), hash.c_str());
  if (*descriptor_ < 0 || ::pwrite(*descriptor_, text, static_cast<std::size_t>(size), 0) != size)
    throw Error({.what = "cannot write beside the ledger: " + std::string(std::strerror(errno)),
                 .where = path_.string(),
                 .fix = "nothing was released; check free space and permissions"});
}

}  // namespace parley::privacy
