#include "parley/base/error.h"
#include "parley/data/read/postgres/postgres.h"

namespace parley::data {

Bytes query_bytes(const std::string& address, const std::string&) {
  throw Error({.what = "this parley was built without PostgreSQL",
               .where = address,
               .fix = "install libpq-dev and build again, or export the rows: psql -c '\\copy (SELECT …) TO rows.csv "
                      "CSV HEADER'"});
}

}  // namespace parley::data
