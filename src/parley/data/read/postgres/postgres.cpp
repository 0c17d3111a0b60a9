// Rows of a query, as PostgreSQL itself writes them in CSV: COPY (query) TO STDOUT. Nothing but this file names libpq.
#include "parley/data/read/postgres/postgres.h"

#include <libpq-fe.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/data/read/bytes.h"

namespace parley::data {
namespace {

struct Finish {
  void operator()(PGconn* connection) const { PQfinish(connection); }
  void operator()(PGresult* result) const { PQclear(result); }
  void operator()(char* text) const { PQfreemem(text); }
};

class Copy {
 public:
  Copy(const std::string& address, const std::string& query)
      : address_(address), connection_(PQconnectdb(address.c_str())) {
    if (PQstatus(connection_.get()) != CONNECTION_OK)
      fail("the database cannot be reached", "check the address, and that the server accepts this user");
    run("SET client_encoding TO 'UTF8'", PGRES_COMMAND_OK);
    run("SET default_transaction_read_only TO on", PGRES_COMMAND_OK);  // a query that reads rows changes none
    // In the order of the table: rows are held out and dealt by place, and a restarted run needs the same order. An
    // index or several workers would give the rows in an order that follows from values or from chance.
    for (const char* setting : {"synchronize_seqscans TO off", "max_parallel_workers_per_gather TO 0",
                                "enable_indexscan TO off", "enable_indexonlyscan TO off"})
      run(std::string("SET ") + setting, PGRES_COMMAND_OK);
    run("COPY (" + query + ") TO STDOUT WITH (FORMAT csv, HEADER true)", PGRES_COPY_OUT);
  }

  std::size_t read(char* to, std::size_t most) {
    std::size_t done = 0;
    while (done < most && !ended_) {
      if (at_ == size_ && !fetch()) break;
      const std::size_t count = std::min(most - done, size_ - at_);
      std::copy_n(row_.get() + at_, count, to + done);
      at_ += count;
      done += count;
    }
    return done;
  }

 private:
  bool fetch() {
    char* row = nullptr;
    const int size = PQgetCopyData(connection_.get(), &row, 0);
    row_.reset(row);
    at_ = 0;
    size_ = static_cast<std::size_t>(std::max(0, size));
    if (size > 0) return true;
    ended_ = true;
    const std::unique_ptr<PGresult, Finish> result(PQgetResult(connection_.get()));
    if (size == -2 || PQresultStatus(result.get()) != PGRES_COMMAND_OK)
      fail("the query ended before all rows had come", "try again; look at the server's log");
    return false;
  }
  void run(const std::string& command, ExecStatusType expected) {
    const std::unique_ptr<PGresult, Finish> result(PQexec(connection_.get(), command.c_str()));
    if (PQresultStatus(result.get()) != expected) fail("the database refuses the query", "try the query in psql");
  }
  [[noreturn]] void fail(const std::string& what, const std::string& fix) const {
    throw Error(
        {.what = what, .value = std::string(trim(PQerrorMessage(connection_.get()))), .where = address_, .fix = fix});
  }

  std::string address_;
  std::unique_ptr<PGconn, Finish> connection_;
  std::unique_ptr<char, Finish> row_;
  std::size_t at_ = 0, size_ = 0;
  bool ended_ = false;
};

}  // namespace

Bytes query_bytes(const std::string& address, const std::string& query) {
  const auto copy = std::make_shared<Copy>(address, query);
  return {.name = address, .read = [copy](char* to, std::size_t most) { return copy->read(to, most); }};
}

}  // namespace parley::data
