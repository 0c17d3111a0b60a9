#include "parley/ledger/connection.h"

#include <cstring>
#include <sstream>

#include "parley/base/error.h"
#include "parley/base/input_file.h"
#include "parley/ledger/error_codes.h"

namespace parley::ledger {
namespace {

namespace fs = std::filesystem;

std::string holder(const fs::path& file) {
  std::istringstream lock(read_bytes(file.string() + ".lock", mebibyte).value_or(""));
  long pid = 0;
  return lock >> pid ? "process " + std::to_string(pid) : "another process";
}

}  // namespace

void LedgerDatabase::Connection::fail(const std::string& doing, const fs::path& file) const {
  const int code = db == nullptr ? SQLITE_NOMEM : sqlite3_extended_errcode(db);
  if ((code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_LOCKED)
    throw Error({.what = "the ledger is in use by " + holder(file),
                 .where = file.string(),
                 .fix = "wait until it ends: one process at a time may spend",
                 .code = ledger_in_use});
  const bool foreign = (code & 0xff) == SQLITE_NOTADB || (code & 0xff) == SQLITE_CORRUPT;
  std::string reason = db == nullptr ? "out of memory" : sqlite3_errmsg(db);
  if (db != nullptr && (code & 0xff) == SQLITE_IOERR && sqlite3_system_errno(db) != 0)
    reason += " (" + std::string(std::strerror(sqlite3_system_errno(db))) + ")";
  throw Error({.what = "cannot " + doing + " the ledger: " + reason,
               .where = file.string(),
               .fix = foreign ? "nothing was released; is this a parley ledger? Restore the newest intact copy and run "
                                "'parley ledger verify' with your records"
                              : "nothing was released; check free space, permissions and the disk, then start again"});
}

void LedgerDatabase::Connection::run(const char* sql, const std::string& doing, const fs::path& file) const {
  if (sqlite3_exec(db, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail(doing, file);
}

std::int64_t LedgerDatabase::Connection::integer(const char* sql, const fs::path& file) const {
  Statement statement(db, sql);
  if (!statement.good() || statement.step() != SQLITE_ROW) fail("read", file);
  return statement.integer(0);
}

LedgerDatabase::LedgerDatabase(fs::path file) : file_(std::move(file)), connection_(std::make_shared<Connection>()) {
  connection_->memory = std::make_unique<NewestHead>(file_);
}

void LedgerDatabase::lock() {
  const int opened = sqlite3_open_v2(file_.c_str(), &connection_->db, SQLITE_OPEN_READWRITE, nullptr);
  sqlite3_extended_result_codes(connection_->db, 1);
  if (opened != SQLITE_OK) connection_->fail("open", file_);
  if (sqlite3_db_readonly(connection_->db, "main") == 1)
    throw Error({.what = "the ledger is read-only: nothing can be charged, so nothing can be released",
                 .where = file_.string(),
                 .fix = "check its permissions"});
  connection_->run("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA locking_mode = EXCLUSIVE", "open",
                   file_);
  if (connection_->integer("PRAGMA application_id", file_) != application_id)
    throw Error(
        {.what = "not a parley ledger", .where = file_.string(), .fix = "name the file 'parley ledger cap' made"});
  if (connection_->integer("PRAGMA user_version", file_) != format_version)
    throw Error({.what = "a ledger of another version of parley",
                 .value = "format " + std::to_string(connection_->integer("PRAGMA user_version", file_)),
                 .allowed = "format " + std::to_string(format_version),
                 .where = file_.string()});
  connection_->run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; BEGIN EXCLUSIVE; COMMIT", "lock", file_);
}

}  // namespace parley::ledger
