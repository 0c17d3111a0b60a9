#include "parley/data/read/csv_options.h"

#include <algorithm>
#include <filesystem>
#include <set>

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

void refuse_other_kinds(const std::string& file, const std::string& where) {
  static const std::set<std::string> tables = {".xlsx", ".xls", ".ods",      ".parquet",
                                               ".sav",  ".dta", ".sas7bdat", ".rds"},
                                     others = {".toml", ".json", ".jsonl", ".html", ".pem", ".key", ".ledger", ".zip"};
  const std::string extension = std::filesystem::path(file).extension().string();
  const bool table = tables.contains(extension);
  if (!table && !others.contains(extension)) return;
  throw Error(
      {.what = table ? "parley does not read this kind of table" : "this is no file of rows",
       .value = "'" + file + "'",
       .allowed = "a .csv, .csv.gz or .libsvm file, - for standard input, postgresql://...",
       .where = where,
       .fix = table ? "save it as CSV (UTF-8) in the program that made it" : "give the file that holds the rows"});
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
  if (source == "-" || is_database(source)) return;
  if (std::filesystem::exists(source, ignored)) return refuse_other_kinds(source, where);
  throw Error({.what = "the data file does not exist",
               .value = "'" + source + "'",
               .allowed = allowed,
               .where = where,
               .fix = separated_otherwise(source)});
}

}  // namespace parley::data
