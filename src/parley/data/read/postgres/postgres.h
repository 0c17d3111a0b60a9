// A database as a source of CSV; without libpq (absent.cpp) an Error that says so.
#pragma once
#include <string>

#include "parley/data/read/bytes.h"

namespace parley::data {

// The query: as plain_query (../plain_query.h) returns it.
Bytes query_bytes(const std::string& address, const std::string& query);

}  // namespace parley::data
