// A new ledger's file: its table, and how it comes into being.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "parley/base/durable.h"
#include "parley/base/error.h"
#include "parley/ledger/connection.h"

namespace parley::ledger {
namespace {

namespace fs = std::filesystem;

// The triggers and the index stop mistakes by hand; the chain shows them.
constexpr const char* schema = R"(
CREATE TABLE entry(
  sequence INTEGER PRIMARY KEY, kind TEXT NOT NULL, run TEXT NOT NULL, node INTEGER NOT NULL, round INTEGER NOT NULL,
  body TEXT NOT NULL, released_hash BLOB NOT NULL, hash BLOB NOT NULL, released BLOB NOT NULL) STRICT;
CREATE UNIQUE INDEX one_release ON entry(run, node, round) WHERE kind = 'charge';
CREATE UNIQUE INDEX one_start ON entry(run) WHERE kind = 'run';
CREATE TRIGGER no_update BEFORE UPDATE ON entry BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER no_delete BEFORE DELETE ON entry BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE VIEW charges AS SELECT sequence, run, node, round, json_extract(body, '$.kind') AS kind,
  json_extract(body, '$.epsilon') AS epsilon, json_extract(body, '$.mu') AS mu, json_extract(body, '$.parameters') AS
  parameters, length(released) / 8 AS coordinates FROM entry WHERE kind = 'charge';
CREATE VIEW runs AS SELECT sequence, run, body FROM entry WHERE kind = 'run';
CREATE VIEW caps AS SELECT sequence, json_extract(body, '$.dataset') AS dataset, json_extract(body, '$.epsilon') AS
  epsilon, json_extract(body, '$.delta') AS delta FROM entry WHERE kind = 'cap';
)";

fs::path beside(const fs::path& file, const char* suffix) {
  return file.string() + suffix;
}

}  // namespace

void LedgerDatabase::check_vacant(const fs::path& file) {
  for (const char* suffix : {".newest-head", "-wal", "-journal", ".lock"})
    if (fs::exists(beside(file, suffix)))
      throw Error(
          {.what = "there was a ledger here, and it is gone: " + beside(file, suffix).string() + " is left of it",
           .where = file.string(),
           .fix = "put it back, its spend still counts; or choose another place for a new one"});
}

// Made under another name and then renamed: a kill leaves a whole ledger or none.
void LedgerDatabase::create(const fs::path& file, const Entry& first) {
  const fs::path draft = beside(file, (".new-" + std::to_string(::getpid())).c_str());
  for (const char* suffix : {"", "-wal", "-journal"}) {
    std::error_code ignored;
    fs::remove(beside(draft, suffix), ignored);
  }
  {
    LedgerDatabase made(draft);
    Connection& c = *made.connection_;
    if (sqlite3_open_v2(draft.c_str(), &c.db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr) != SQLITE_OK)
      c.fail("create", file);
    ::chmod(draft.c_str(), 0600);
    const std::string pragmas = "PRAGMA synchronous = FULL; PRAGMA application_id = " + std::to_string(application_id) +
                                "; PRAGMA user_version = " + std::to_string(format_version);
    c.run(pragmas.c_str(), "create", file);
    c.run(schema, "create", file);
    made.append(std::span(&first, 1));
  }
  if (::renameat2(AT_FDCWD, draft.c_str(), AT_FDCWD, file.c_str(), RENAME_NOREPLACE) != 0) {
    const std::string reason = std::strerror(errno);
    ::unlink(draft.c_str());
    throw Error({.what = "cannot create the ledger: " + reason, .where = file.string()});
  }
  sync_folder_of(fs::canonical(file));
}

}  // namespace parley::ledger
