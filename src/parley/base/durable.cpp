#include "parley/base/durable.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "parley/base/error.h"

namespace parley {

namespace fs = std::filesystem;

namespace {

bool synced(const fs::path& path, int flags) {
  const Descriptor file(::open(path.c_str(), flags | O_CLOEXEC));
  return file.open() && ::fsync(file.number()) == 0;
}

}  // namespace

Descriptor::~Descriptor() {
  const int reason = errno;  // of what the caller is about to tell
  if (number_ >= 0) ::close(number_);
  errno = reason;
}

InUse::InUse(fs::path path) : path_(std::move(path)), held_(::open(path_.c_str(), O_PATH | O_CLOEXEC)) {}

bool InUse::in_place() const {
  struct stat held{}, there{};
  return held_.open() && ::fstat(held_.number(), &held) == 0 && held.st_nlink > 0 &&
         ::stat(path_.c_str(), &there) == 0 && there.st_dev == held.st_dev && there.st_ino == held.st_ino;
}

std::string why_not_written(int reason) {
  return std::string(std::strerror(reason)) + (reason == EFBIG ? " (beyond the limit on file sizes, ulimit -f)" : "");
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

bool create_file(const fs::path& file, std::string_view bytes, int mode) {
  const Descriptor made(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (!made.open()) return false;
  if (write_all(made.number(), bytes) && ::fsync(made.number()) == 0) return true;
  const int reason = errno;
  ::unlink(file.c_str());
  errno = reason;
  return false;
}

void write_private_file(const fs::path& file, std::string_view text) {
  const Descriptor out(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (out.open() && ::fchmod(out.number(), 0600) == 0 && write_all(out.number(), text)) return;
  throw Error({.what = "cannot write: " + why_not_written(errno),
               .where = file.string(),
               .fix = "check free space and permissions"});
}

bool sync_folder_of(const fs::path& file) {
  return synced(file.has_parent_path() ? file.parent_path() : fs::path("."), O_RDONLY | O_DIRECTORY);
}

void sync_files(const fs::path& folder) {
  const auto keep = [](const fs::path& path, int flags) {
    if (!synced(path, flags))
      throw Error({.what = "cannot sync: " + std::string(std::strerror(errno)),
                   .where = path.string(),
                   .fix = "check the disk, then start again"});
  };
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_regular_file() && !entry.is_symlink()) keep(entry.path(), O_RDONLY);
  keep(folder, O_RDONLY | O_DIRECTORY);
}

void leave_no_core_dump() {
#ifndef PARLEY_SANITIZED
  const rlimit none{};
  ::setrlimit(RLIMIT_CORE, &none);
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);  // a core_pattern that begins with | does not ask for the limit
#endif
}

}  // namespace parley
