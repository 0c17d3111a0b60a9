// An open ledger's file as SQLite knows it. Only the sources of LedgerDatabase include this.
#pragma once
#include <memory>
#include <string>

#include "parley/ledger/database.h"
#include "parley/ledger/newest_head.h"
#include "parley/ledger/sqlite.h"

namespace parley::ledger {

constexpr int application_id = 0x5041524c;  // "PARL"
constexpr int format_version = 1;

struct LedgerDatabase::Connection {
  Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { sqlite3_close(db); }

  // Error with SQLite's reason: in use, not a ledger, or what failed and what to do.
  [[noreturn]] void fail(const std::string& doing, const std::filesystem::path& file) const;
  void run(const char* sql, const std::string& doing, const std::filesystem::path& file) const;
  std::int64_t integer(const char* sql, const std::filesystem::path& file) const;

  sqlite3* db = nullptr;
  std::unique_ptr<NewestHead> memory;
};

}  // namespace parley::ledger
