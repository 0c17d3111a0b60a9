#include "parley/data/table.h"

#include <limits>
#include <set>
#include <utility>

#include "parley/base/error.h"
#include "parley/data/read/csv_blocks.h"
#include "parley/data/read/csv_scanner.h"
#include "parley/data/read/delimiter.h"

namespace parley::data {
namespace {

void check_names(const std::vector<std::string>& names, const std::string& where) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty())
      throw Error({.what = "column " + std::to_string(i + 1) + " has no name",
                   .where = where,
                   .fix = "name every column in the header"});
    if (!seen.insert(names[i]).second)
      throw Error({.what = "two columns have the same name",
                   .value = "'" + names[i] + "'",
                   .where = where,
                   .fix = "rename one of them"});
  }
}

}  // namespace

std::vector<std::string> column_names(const CsvLayout& layout, const std::vector<std::string_view>& first_row,
                                      const std::string& where) {
  if (!layout.columns.empty()) return layout.columns;
  std::vector<std::string> names(first_row.begin(), first_row.end());
  if (layout.header)
    check_names(names, where);
  else
    for (std::size_t i = 0; i < names.size(); ++i) names[i] = "c" + std::to_string(i + 1);
  return names;
}

void refuse_ragged(const std::vector<std::string_view>& fields, std::size_t columns, const CsvLayout& layout,
                   const Place& where) {
  const std::string other = suspected_delimiter(fields, columns, layout.delimiter);
  throw Error({.what = "the row has a wrong number of fields",
               .value = std::to_string(fields.size()),
               .allowed = std::to_string(columns) + ", as there are columns",
               .where = where.text(),
               .fix = other.empty() ? "complete the row; put quotes around a field that holds a comma, and write "
                                      "decimal numbers with a point"
                                    : "its fields seem to be separated otherwise: give --delimiter " + other});
}

void refuse_empty(const std::string& source, const CsvLayout& layout, bool has_header) {
  throw Error({.what = has_header && layout.header ? "the file has no rows" : "the file is empty",
               .where = source,
               .fix = layout.header ? "a header line and at least one row are needed" : "at least one row is needed"});
}

struct CsvReader::Inside {
  CsvLayout layout;
  std::string source;
  CsvBlocks blocks;
  CsvBlock block{};
  std::optional<CsvScanner> rows{};
  std::vector<std::string> columns{};
  bool any = false;

  Inside(Bytes bytes, CsvLayout l)
      : layout(std::move(l)), source(bytes.name), blocks(std::move(bytes), layout.comment) {
    if (layout.header && !layout.columns.empty())
      throw Error({.what = "column names were given for a file that has a header",
                   .where = source,
                   .fix = "drop one of the two"});
    check_names(layout.columns, source);
  }

  bool next_row() {
    while (!rows || !rows->next()) {
      if (!blocks.next(block)) return false;
      if (layout.delimiter == 0) layout.delimiter = found_delimiter(block.text, layout);
      rows.emplace(block.text, block.first_line, layout, source);
    }
    return true;
  }
  bool next_data_row() {
    if (!next_row()) return false;
    if (!columns.empty()) return true;
    columns = column_names(layout, rows->fields(), rows->place().text());
    return !layout.header || next_row();
  }
};

CsvReader::CsvReader(Bytes bytes, const CsvLayout& layout)
    : inside_(std::make_unique<Inside>(std::move(bytes), layout)) {}

CsvReader::CsvReader(const std::filesystem::path& path, const CsvLayout& layout)
    : CsvReader(file_bytes(path), layout) {}

CsvReader::~CsvReader() = default;

std::optional<Table> CsvReader::next(std::size_t most_rows) {
  Inside& in = *inside_;
  Table table{.source = in.source, .columns = {}, .cells = {}, .line = {}};
  while (table.cells.size() < most_rows && in.next_data_row()) {
    const auto& fields = in.rows->fields();
    if (fields.size() != in.columns.size()) refuse_ragged(fields, in.columns.size(), in.layout, in.rows->place());
    table.cells.emplace_back(fields.begin(), fields.end());
    table.line.push_back(in.rows->place().line);
    in.any = true;
  }
  if (!in.any) refuse_empty(in.source, in.layout, !in.columns.empty());
  if (table.cells.empty()) return std::nullopt;
  table.columns = in.columns;
  return table;
}

char CsvReader::delimiter() const {
  return inside_->layout.delimiter;
}

Table parse_csv(std::string_view text, std::string source, const CsvLayout& layout) {
  return *CsvReader(text_bytes(text, std::move(source)), layout).next(std::numeric_limits<std::size_t>::max());
}

Table read_csv(const std::filesystem::path& path, const CsvLayout& layout) {
  return *CsvReader(path, layout).next(std::numeric_limits<std::size_t>::max());
}

std::string place(const Table& table, std::size_t row) {
  return at(table.source, table.line.at(row));
}

}  // namespace parley::data
