// Makes the program die, or its disk fill up, at the n-th thing it does to a file. Linked into parley_failpoints
// (tests/CMakeLists.txt), which is the program with the ledger's failpoints compiled in; the functions of the C library
// that change a file are caught by name, in SQLite as well.
//   PARLEY_KILL=n     kill -9 before event n
//   PARLEY_TORN=n     the same, but half of the bytes of event n are written first; of a ledger's memory, which is less
//                     than a sector, none (half of it: ledger_memory_test.cpp)
//   PARLEY_STOP=n     the process stops before event n, as by SIGSTOP, until it is told to go on
//   PARLEY_FULL=n     from event n on nothing can be written: ENOSPC
//   PARLEY_UNCERTIFIED=n   the n-th round that is solved cannot be certified
//   PARLEY_LATER=n    from the n-th round that is solved on, the clock is 31 days later; "signal": from SIGUSR1 on
//   PARLEY_AT=NAME    n counts the events of this name only: threads mix the others
//   PARLEY_EVENTS=F   writes the names of all events to F at the end: a failpoint's place, or what is done
//                     to which file
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "parley/problem/solve.h"

namespace {

std::string text_of(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

long asked(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : std::atol(text);
}

enum class Then { go_on, torn, full };

struct Events {
  long kill = asked("PARLEY_KILL"), torn = asked("PARLEY_TORN"), full = asked("PARLEY_FULL"),
       stop = asked("PARLEY_STOP");
  const char* file = std::getenv("PARLEY_EVENTS");
  const std::string at = text_of("PARLEY_AT");
  std::mutex mutex;  // a party has several threads
  long met = 0;
  std::string names;
  bool over = false;

  Then meet(std::string_view what, std::string_view which) {
    const std::lock_guard lock(mutex);
    if (over) return Then::go_on;
    if (file != nullptr) names.append(what).append(which.empty() ? "" : " ").append(which).append("\n");
    if (!at.empty() && at != std::string(what) + (which.empty() ? "" : " ") + std::string(which)) return Then::go_on;
    ++met;
    if (met == kill) die();
    if (met == stop) ::raise(SIGSTOP);
    if (met == torn) return Then::torn;
    return full > 0 && met >= full ? Then::full : Then::go_on;
  }
  [[noreturn]] static void die() {
    ::raise(SIGKILL);
    std::abort();
  }
  ~Events() {
    over = true;
    if (file == nullptr) return;
    const int out = ::open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    (void)!::syscall(SYS_write, out, names.data(), names.size());
    ::close(out);
  }
};

Events& events() {
  static Events all;
  return all;
}

std::string base_name(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

std::string path_of(int descriptor) {
  char link[64], path[4096];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t size = ::readlink(link, path, sizeof path);
  return {path, size <= 0 ? 0 : static_cast<std::size_t>(size)};
}

std::string name_of(int descriptor) {
  return base_name(path_of(descriptor));
}

bool watched(int descriptor) {  // files, not sockets and what else threads wake each other with
  return descriptor > 2 && path_of(descriptor).starts_with('/');
}

// A write of `size` bytes: whole, half of it and death, or none of it.
template <class Do>
ssize_t writing(const char* what, int descriptor, std::size_t size, const Do& call) {
  if (!watched(descriptor)) return call(size);
  switch (events().meet(what, name_of(descriptor))) {
    case Then::torn:
      if (!name_of(descriptor).ends_with(".newest-head")) call(size / 2);
      Events::die();
    case Then::full:
      errno = ENOSPC;
      return -1;
    default:
      return call(size);
  }
}

// Anything else that changes a file: happens, or the process died before it.
std::atomic<long> ahead = 0;  // seconds
[[maybe_unused]] const bool on_signal =
    text_of("PARLEY_LATER") == "signal" && std::signal(SIGUSR1, [](int) { ahead = 31L * 86400; }) != SIG_ERR;

void about_to(const char* what, const std::string& which) {
  if (events().meet(what, which) == Then::torn) Events::die();
}

}  // namespace

namespace parley {
void failpoint(std::string_view place) {
  if (events().meet(place, "") == Then::torn) Events::die();
  static std::atomic<long> solved = 0;
  if (place != "solved") return;
  const long now = ++solved;
  if (now == asked("PARLEY_LATER")) ahead = 31L * 86400;
  if (now == asked("PARLEY_UNCERTIFIED")) throw problem::Uncertified({.what = "the local minimum cannot be certified"});
}
}  // namespace parley

extern "C" {

ssize_t write(int fd, const void* bytes, size_t size) {
  return writing("write", fd, size, [&](std::size_t n) { return ::syscall(SYS_write, fd, bytes, n); });
}

ssize_t writev(int fd, const iovec* parts, int count) {
  std::vector<char> bytes;
  for (int i = 0; i < count; ++i) {
    const char* part = static_cast<const char*>(parts[i].iov_base);
    bytes.insert(bytes.end(), part, part + parts[i].iov_len);
  }
  return writing("write", fd, bytes.size(), [&](std::size_t n) { return ::syscall(SYS_write, fd, bytes.data(), n); });
}

ssize_t pwrite(int fd, const void* bytes, size_t size, off_t at) {
  return writing("write", fd, size, [&](std::size_t n) { return ::syscall(SYS_pwrite64, fd, bytes, n, at); });
}

ssize_t pwrite64(int fd, const void* bytes, size_t size, off64_t at) {
  return pwrite(fd, bytes, size, at);
}

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const auto result = static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
  if (clock == CLOCK_REALTIME) time->tv_sec += ahead;
  return result;
}

int fsync(int fd) {
  about_to("sync", name_of(fd));
  return static_cast<int>(::syscall(SYS_fsync, fd));
}

int fdatasync(int fd) {
  about_to("sync", name_of(fd));
  return static_cast<int>(::syscall(SYS_fdatasync, fd));
}

int ftruncate(int fd, off_t size) noexcept {
  about_to("truncate", name_of(fd));
  return static_cast<int>(::syscall(SYS_ftruncate, fd, size));
}

int ftruncate64(int fd, off64_t size) noexcept {
  return ftruncate(fd, size);
}

int truncate(const char* path, off_t size) noexcept {
  about_to("truncate", base_name(path));
  return static_cast<int>(::syscall(SYS_truncate, path, size));
}

int rename(const char* from, const char* to) noexcept {
  about_to("rename", base_name(to));
  return static_cast<int>(::syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to));
}

int unlink(const char* path) noexcept {
  about_to("unlink", base_name(path));
  return static_cast<int>(::syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}

}  // extern "C"
