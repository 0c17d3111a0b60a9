// How the fields of a CSV file are told apart, and which rows of a database are taken: the options of every command that
// reads rows.
#pragma once
#include <string>
#include <vector>

#include "parley/base/options.h"
#include "parley/data/read/csv_layout.h"

namespace parley::data {

struct CsvOptions {
  bool header = true;
  std::string delimiter = "auto";
  std::string query;

  CsvLayout layout() const;
};
std::vector<Option> option_rows(CsvOptions& o, const std::string& group);

// Error: there is a query, and none of the sources is a database.
void check_query_used(const CsvOptions& o, const std::vector<std::string>& sources);

// Error: the source is a file, and there is none, or its name says that it holds no rows that parley reads. allowed: what
// else its option takes, "" if nothing.
void check_there(const std::string& source, const std::string& where, const std::string& allowed = "");

}  // namespace parley::data
