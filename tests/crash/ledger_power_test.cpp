// Power loss: what was written but not synced may be gone, in any part. A disk under SQLite remembers every unsynced
// write; at the n-th event it keeps all, none or some of them, and the process dies.
#include <fcntl.h>
#include <sqlite3.h>

#include <random>

#include "fixture.h"

namespace parley::ledger {
namespace {

enum class Keep { none, some };

struct Change {  // one unsynced write or truncation
  std::string path, before, after;
  sqlite3_int64 at, size_before, size_after;
};

struct Disk {
  std::vector<Change> unsynced;
  std::map<sqlite3_file*, std::pair<std::string, const sqlite3_io_methods*>> open;
  sqlite3_io_methods methods{};
  sqlite3_vfs vfs{};
  long events_left = -1;
  long syncs = 0;
  Keep keep = Keep::none;
} disk;

void put(const Change& c, bool forward) {
  const int file = ::open(c.path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  const std::string& bytes = forward ? c.after : c.before;
  if (!bytes.empty() && ::pwrite(file, bytes.data(), bytes.size(), c.at) < 0) ::_exit(7);
  if (::ftruncate(file, forward ? c.size_after : c.size_before) != 0) ::_exit(7);
  ::close(file);
}

void event() {
  if (disk.events_left <= 0 || --disk.events_left > 0) return;
  for (auto c = disk.unsynced.rbegin(); c != disk.unsynced.rend(); ++c) put(*c, false);
  std::mt19937 coin(static_cast<unsigned>(disk.unsynced.size() * 7919 + static_cast<unsigned>(disk.syncs)));
  if (disk.keep == Keep::some)
    for (const Change& c : disk.unsynced)
      if (coin() % 2 == 0) put(c, true);
  ::raise(SIGKILL);
}

const sqlite3_io_methods& real(sqlite3_file* f) {
  return *disk.open.at(f).second;
}

std::string bytes_at(sqlite3_file* f, sqlite3_int64 at, sqlite3_int64 size) {
  sqlite3_int64 end = 0;
  real(f).xFileSize(f, &end);
  std::string bytes(static_cast<std::size_t>(std::clamp<sqlite3_int64>(end - at, 0, size)), '\0');
  if (!bytes.empty()) real(f).xRead(f, bytes.data(), static_cast<int>(bytes.size()), at);
  return bytes;
}

int write(sqlite3_file* f, const void* data, int size, sqlite3_int64 at) {
  event();
  Change c{.path = disk.open.at(f).first, .before = bytes_at(f, at, size), .at = at};
  c.after.assign(static_cast<const char*>(data), static_cast<std::size_t>(size));
  real(f).xFileSize(f, &c.size_before);
  c.size_after = std::max(c.size_before, at + size);
  disk.unsynced.push_back(c);
  return real(f).xWrite(f, data, size, at);
}

int truncate(sqlite3_file* f, sqlite3_int64 size) {
  event();
  Change c{.path = disk.open.at(f).first, .at = size, .size_after = size};
  real(f).xFileSize(f, &c.size_before);
  c.before = bytes_at(f, size, c.size_before - size);
  disk.unsynced.push_back(c);
  return real(f).xTruncate(f, size);
}

int sync(sqlite3_file* f, int flags) {
  event();
  ++disk.syncs;
  const int result = real(f).xSync(f, flags);
  std::erase_if(disk.unsynced, [&](const Change& c) { return c.path == disk.open.at(f).first; });
  event();
  return result;
}

int shut(sqlite3_file* f) {
  const auto* methods = &real(f);
  disk.open.erase(f);
  return methods->xClose(f);
}

void use_disk(long events, Keep keep) {
  static sqlite3_vfs* base = sqlite3_vfs_find(nullptr);
  disk.vfs = *base;
  disk.vfs.zName = "disk";
  disk.vfs.xOpen = [](sqlite3_vfs*, sqlite3_filename name, sqlite3_file* f, int flags, int* out) {
    const int result = base->xOpen(base, name, f, flags, out);
    if (result == SQLITE_OK && name != nullptr) {
      disk.open[f] = {name, f->pMethods};
      disk.methods = *f->pMethods;  // the same for all files of this kind of file system
      disk.methods.xWrite = write;
      disk.methods.xTruncate = truncate;
      disk.methods.xSync = sync;
      disk.methods.xClose = shut;
      f->pMethods = &disk.methods;
    }
    return result;
  };
  sqlite3_vfs_register(&disk.vfs, 1);
  disk.events_left = events;
  disk.keep = keep;
  failpoints.at_each = event;
}

TEST_F(Crash, PowerLossLosesNothingThatWasSent) {
  for (const Keep keep : {Keep::none, Keep::some}) {
    int deaths = 0;
    for (long n = 1;; ++n, ++deaths) {
      fresh();
      const int end = in_child([&] {
        use_disk(n, keep);
        run_to_the_end(file, 1, *sent);
      });
      if (end == 0) break;
      ASSERT_EQ(end, SIGKILL) << n;
      check_and_finish();
      if (HasFatalFailure()) FAIL() << "at event " << n;
    }
    EXPECT_GT(deaths, 60);
  }
}

TEST_F(Crash, EveryCommitIsSyncedBeforeItIsAcknowledged) {
  fresh();
  const int end = in_child([&] {
    use_disk(-1, Keep::none);
    Ledger ledger(std::make_shared<LedgerFile>(file), plan());
    for (int t = 0; t < rounds; ++t) {
      const long before = disk.syncs;
      if (!ledger.pay({.node = 0, .round = t, .value = Vector::Ones(50), .charge = {.kind = "none"}})) ::_exit(1);
      if (disk.syncs == before || !disk.unsynced.empty()) ::_exit(2);
    }
  });
  EXPECT_EQ(end, 0);
}

}  // namespace
}  // namespace parley::ledger
