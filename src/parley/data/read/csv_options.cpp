#include "parley/data/read/csv_options.h"

#include <algorithm>
#include <filesystem>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/data/read/bytes.h"
#include "parley/data/read/delimiter.h"

namespace parley::data {
namespace {

bool all_exist(const std::vector<std::string>& names) {
  std::error_code ignored;
  for (const auto& name : names)
    if (!std::filesystem::exists(name, ignored)) return false;
  return names.size() > 1;
}

// "a.csv b.csv" is no file, but two.
std::string separated_otherwise(const std::string& path) {
  for (const char separator : {' ', ';', ':'})
    if (const auto names = split_list(path, separator); all_exist(names))
      return "separate several files by commas, without blanks: " + join(names, ",");
  if (all_exist(split_list(path))) return "these are several files: give one";
  return "check the path";
}

}  // namespace

CsvLayout CsvOptions::layout() const {
  return {.header = header, .delimiter = delimiter_of(delimiter)};
}

std::vector<Option> option_rows(CsvOptions& o, const std::string& group) {
  return {
      {"header", "", "whether the first line of a CSV file names its columns", any_text("yes, no"), &o.header, group},
      {"delimiter", "", "what separates the fields of a CSV file; auto: found from its header line",
       any_text("auto, comma, semicolon, tab, pipe, or one character"), &o.delimiter, group},
      {"query", "", "the rows to take from postgresql://user@host/database: SELECT columns FROM table WHERE conditions",
       any_text("a query in SQL"), &o.query, group}};
}

void check_query_used(const CsvOptions& o, const std::vector<std::string>& sources) {
  if (o.query.empty() || std::ranges::any_of(sources, [](const std::string& name) { return is_database(name); }))
    return;
  throw Error({.what = "--query would not be used: it goes with rows from postgresql://...",
               .where = "option --query",
               .fix = "leave it out, or give the address of a database"});
}

void check_there(const std::string& source, const std::string& where, const std::string& allowed) {
  std::error_code ignored;
  if (source == "-" || is_database(source) || std::filesystem::exists(source, ignored)) return;
  throw Error({.what = "the data file does not exist",
               .value = "'" + source + "'",
               .allowed = allowed,
               .where = where,
               .fix = separated_otherwise(source)});
}

}  // namespace parley::data
