// A prepared statement of SQLite's. Only connection.h includes this.
#pragma once
#include <sqlite3.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "parley/ledger/digest.h"

namespace parley::ledger {

class Statement {
 public:
  Statement(sqlite3* db, const char* sql) {
    if (sqlite3_prepare_v2(db, sql, -1, &statement_, nullptr) != SQLITE_OK) statement_ = nullptr;
  }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement() { sqlite3_finalize(statement_); }
  bool good() const { return statement_ != nullptr; }
  void bind(int at, std::int64_t value) { sqlite3_bind_int64(statement_, at, value); }
  void bind_text(int at, const std::string& v) {
    sqlite3_bind_text64(statement_, at, v.data(), v.size(), SQLITE_STATIC, SQLITE_UTF8);
  }
  void bind_blob(int at, std::string_view v) {
    sqlite3_bind_blob64(statement_, at, v.data() == nullptr ? "" : v.data(), v.size(), SQLITE_STATIC);
  }
  int step() { return sqlite3_step(statement_); }
  void reset() { sqlite3_reset(statement_); }
  std::int64_t integer(int at) const { return sqlite3_column_int64(statement_, at); }
  std::string bytes(int at) const {
    const void* data = sqlite3_column_blob(statement_, at);
    return data == nullptr ? std::string()
                           : std::string(static_cast<const char*>(data),
                                         static_cast<std::size_t>(sqlite3_column_bytes(statement_, at)));
  }
  bool digest(int at, Digest& into) const {
    const std::string b = bytes(at);
    if (b.size() != into.size()) return false;
    std::memcpy(into.data(), b.data(), b.size());
    return true;
  }

 private:
  sqlite3_stmt* statement_ = nullptr;
};

}  // namespace parley::ledger
