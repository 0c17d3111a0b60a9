// Torn writes, full disks, I/O errors and read-only disks (promises R9): every write of SQLite's can be made to fail.
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include <cerrno>

#include "fixture.h"

namespace parley::ledger {
namespace {

using Write = ssize_t (*)(int, const void*, size_t, off_t);
Write real_write = nullptr;
long writes_left = -1;
enum class Then { die_torn, disk_full, io_error } then_what = Then::die_torn;
bool failing = false;

ssize_t broken_write(int descriptor, const void* bytes, size_t size, off_t at) {
  if (!failing && writes_left > 0 && --writes_left == 0) failing = true;
  if (!failing) return real_write(descriptor, bytes, size, at);
  if (then_what == Then::die_torn) {
    real_write(descriptor, bytes, size / 2, at);
    ::raise(SIGKILL);
  }
  errno = then_what == Then::disk_full ? ENOSPC : EIO;
  return -1;
}

void break_write(long n, Then what) {
  sqlite3_vfs* vfs = sqlite3_vfs_find(nullptr);
  int replaced = 0;
  for (const char* name : {"pwrite64", "pwrite"}) {
    const auto call = vfs->xGetSystemCall(vfs, name);
    if (call == nullptr) continue;
    real_write = reinterpret_cast<Write>(call);
    if (vfs->xSetSystemCall(vfs, name, reinterpret_cast<sqlite3_syscall_ptr>(broken_write)) == SQLITE_OK) ++replaced;
  }
  if (replaced == 0) ::_exit(5);
  writes_left = n;
  then_what = what;
}

TEST_F(Crash, ATornWriteLosesNothingThatWasSent) {
  int deaths = 0;
  for (long n = 1;; ++n, ++deaths) {
    fresh();
    const int end = in_child([&] {
      break_write(n, Then::die_torn);
      run_to_the_end(file, 1, *sent);
    });
    if (end == 0) break;
    ASSERT_EQ(end, SIGKILL) << n;
    check_and_finish();
    if (HasFatalFailure()) FAIL() << "at write " << n;
  }
  EXPECT_GT(deaths, 10);
}

TEST_F(Crash, AFullDiskOrAnIoErrorStopsBeforeSendingAndNamesTheFile) {
  for (const Then what : {Then::disk_full, Then::io_error}) {
    int failures = 0;
    for (long n = 1;; ++n, ++failures) {
      fresh();
      const int end = in_child([&] {
        break_write(n, what);
        run_to_the_end(file, 1, *sent);
      });
      if (end == 0) break;  // n is beyond the last write, or only the closing met it
      ASSERT_EQ(end, 3) << n << ": " << error;
      EXPECT_THAT(error, HasSubstr(file.string()));
      EXPECT_THAT(error, HasSubstr("nothing was released"));
      check_and_finish();
      if (HasFatalFailure()) FAIL() << "at write " << n;
    }
    EXPECT_GT(failures, 5);
  }
}

TEST_F(Crash, AFileSizeLimitOfTheSystemStopsBeforeSending) {
  fresh();
  const int end = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{24 * 1024, 24 * 1024};
    setrlimit(RLIMIT_FSIZE, &limit);
    run_to_the_end(file, 1, *sent);
  });
  EXPECT_EQ(end, 3) << error;
  EXPECT_THAT(error, HasSubstr(file.string()));
  EXPECT_EQ(sent->count[0][rounds - 1], 0);
  check_and_finish();
}

TEST_F(Crash, NothingIsChargedAfterTheLedgerFailed) {
  fresh();
  const int end = in_child([&] {
    Ledger ledger(std::make_shared<LedgerFile>(file), plan());
    break_write(1, Then::disk_full);
    const auto offer = [&] {
      return ledger.pay(
          {.node = 0, .round = 0, .value = Vector::Ones(50), .charge = {.kind = "objective-gamma", .epsilon = price}});
    };
    EXPECT_THROW(offer(), Error);
    failing = false;
    EXPECT_THROW(offer(), std::logic_error);  // open it again: what is on disk is not known in this process
    if (testing::Test::HasFailure()) ::_exit(6);
  });
  EXPECT_EQ(end, 0);
  check_and_finish();
}

TEST_F(Crash, AFailureThatCouldNotBeStoredIsNotTold) {
  fresh();
  const int end = in_child([&] {
    Ledger ledger(std::make_shared<LedgerFile>(file), plan());
    break_write(1, Then::disk_full);
    std::vector<privacy::Release> unreleased;
    for (int node = 0; node < nodes; ++node)
      unreleased.push_back({.node = node, .round = 0, .charge = {.kind = "objective-gamma", .epsilon = price}});
    EXPECT_THROW(ledger.fail(unreleased, "not certified"), Error);
    EXPECT_FALSE(ledger.failed());  // what the record then says is the disk's failure: run/simulate.cpp
    if (testing::Test::HasFailure()) ::_exit(6);
  });
  EXPECT_EQ(end, 0);
  check_and_finish();
}

TEST_F(Crash, AReadOnlyLedgerIsRefused) {
  fresh();
  const int end = in_child([&] {  // as the system answers on a read-only disk, also to root
    static sqlite3_vfs* vfs = sqlite3_vfs_find(nullptr);
    using Open = int (*)(const char*, int, int);
    static const auto real_open = reinterpret_cast<Open>(vfs->xGetSystemCall(vfs, "open"));
    const Open refuse = [](const char* path, int flags, int mode) {
      if ((flags & O_RDWR) == 0) return real_open(path, flags, mode);
      errno = EROFS;
      return -1;
    };
    vfs->xSetSystemCall(vfs, "open", reinterpret_cast<sqlite3_syscall_ptr>(refuse));
    run_to_the_end(file, 1, *sent);
  });
  EXPECT_EQ(end, 3);
  EXPECT_THAT(error, HasSubstr("read-only"));
  EXPECT_THAT(error, HasSubstr(file.string()));
  check_and_finish();
}

TEST_F(Crash, ALedgerIsMadeWholeOrNotAtAll) {
  int deaths = 0;
  for (long n = 1;; ++n, ++deaths) {
    fs::remove_all(folder);
    fs::create_directory(folder);
    std::memset(static_cast<void*>(sent), 0, sizeof(Sent));
    const int end = in_child([&] {
      break_write(n, Then::die_torn);
      make_ledger(file);
    });
    if (end == 0) break;
    ASSERT_EQ(end, SIGKILL);
    LedgerFile book(file, LedgerFile::Open::create_if_missing);
    EXPECT_LE(book.head().entries, 2);
    EXPECT_GE(book.head().entries, 1);
    EXPECT_EQ(book.database().damage(), "");
  }
  EXPECT_GT(deaths, 5);
}

}  // namespace
}  // namespace parley::ledger
