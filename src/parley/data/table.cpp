#include "parley/data/table.h"

#include <csv.h>

#include <limits>
#include <set>
#include <utility>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/base/utf8.h"
#include "parley/data/next_rows.h"

namespace parley::data {
namespace {

std::string at(const std::string& source, std::size_t line) {
  return source + ":" + std::to_string(line);
}

// libcsv with its C callbacks; one row at a time.
class Parser {
 public:
  explicit Parser(bool trim) {
    expects(csv_init(&csv_, CSV_STRICT | CSV_STRICT_FINI) == 0, "csv_init succeeds");
    if (!trim) csv_set_space_func(&csv_, [](unsigned char) { return 0; });
  }
  ~Parser() { csv_free(&csv_); }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  // One line with its end. False: the quoting is broken.
  bool feed(std::string_view line) {
    return csv_parse(&csv_, line.data(), line.size(), field, row, this) == line.size();
  }
  bool finish() { return csv_fini(&csv_, field, row, this) == 0; }

  std::vector<std::string> fields;
  bool complete = false;  // fields holds a whole row; the caller takes it and resets this

 private:
  static void field(void* text, std::size_t size, void* self) {
    static_cast<Parser*>(self)->fields.emplace_back(static_cast<const char*>(text), size);
  }
  static void row(int, void* self) { static_cast<Parser*>(self)->complete = true; }

  csv_parser csv_{};
};

// The first line of text with its end: \n, \r\n or \r.
std::string_view first_line(std::string_view text) {
  const auto end = text.find_first_of("\r\n");
  if (end == std::string_view::npos) return text;
  return text.substr(0, end + (text.substr(end).starts_with("\r\n") ? 2 : 1));
}

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

void add_row(Table& table, const CsvLayout& layout, std::vector<std::string> fields, std::size_t line) {
  const std::string where = at(table.source, line);
  if (table.columns.empty()) {
    if (layout.header) {
      check_names(fields, where);
      table.columns = std::move(fields);
      return;
    }
    for (std::size_t i = 0; i < fields.size(); ++i) table.columns.push_back("c" + std::to_string(i + 1));
  }
  if (fields.size() != table.columns.size())
    throw Error({.what = "the row has a wrong number of fields",
                 .value = std::to_string(fields.size()),
                 .allowed = std::to_string(table.columns.size()) + ", as there are columns",
                 .where = where,
                 .fix = "complete the row; put quotes around a field that holds a comma"});
  table.cells.push_back(std::move(fields));
  table.line.push_back(line);
}

}  // namespace

// Rows as their lines come in.
class CsvRows {
 public:
  CsvRows(std::string source, CsvLayout layout) : layout_(std::move(layout)), parser_(layout_.trim) {
    table_.source = std::move(source);
    if (layout_.header && !layout_.columns.empty())
      throw Error({.what = "column names were given for a file that has a header",
                   .where = table_.source,
                   .fix = "drop one of the two"});
    check_names(layout_.columns, table_.source);
    table_.columns = layout_.columns;
  }

  void add(std::string_view now) {  // a line with its end
    if (++line_ == 1 && now.starts_with("\xEF\xBB\xBF")) now.remove_prefix(3);
    if (row_start_ == 0) {
      if (layout_.comment != 0 && now.starts_with(layout_.comment)) return;
      const bool blank = layout_.trim ? trim(now).empty() : now.find_first_not_of("\r\n") == std::string_view::npos;
      if (blank) return;
      row_start_ = line_;
      row_size_ = 0;
    }
    row_size_ += now.size();
    if (row_size_ > longest_row) refuse_long();
    if (!is_utf8(now) || now.find('\0') != std::string_view::npos)
      throw Error({.what = "the file is not UTF-8 text",
                   .where = at(table_.source, line_),
                   .fix = "save it as UTF-8 (iconv -t UTF-8)"});
    if (!parser_.feed(now))
      throw broken("a quote stands where none may stand (in the row that starts here)",
                   "put the whole field in quotes and double every quote inside it: \"say \"\"hi\"\"\"");
    if (parser_.complete) take_row();
  }

  void end() {
    if (!parser_.finish())
      throw broken("a quoted field is never closed (in the row that starts here)", "add the closing quote");
    if (parser_.complete) take_row();
    if (any_) return;
    throw Error(
        {.what = table_.columns.empty() ? "the file is empty" : "the file has no rows",
         .where = table_.source,
         .fix = layout_.header ? "a header line and at least one row are needed" : "at least one row is needed"});
  }

  [[noreturn]] void refuse_long() const {
    throw Error({.what = "a row is longer than any row may be",
                 .allowed = "at most " + std::to_string(longest_row / mebibyte) + " MiB",
                 .where = at(table_.source, row_start_ == 0 ? line_ + 1 : row_start_),
                 .fix = "check that this is a CSV file with one row a line"});
  }

  std::size_t count() const { return table_.cells.size(); }
  Table take() {
    Table rows{.source = table_.source, .columns = table_.columns, .cells = {}, .line = {}};
    std::swap(rows.cells, table_.cells);
    std::swap(rows.line, table_.line);
    return rows;
  }

  static constexpr std::size_t longest_row = 64 * mebibyte;

 private:
  Error broken(const std::string& what, const std::string& fix) const {
    return Error({.what = what, .where = at(table_.source, row_start_), .fix = fix});
  }
  void take_row() {
    add_row(table_, layout_, std::exchange(parser_.fields, {}), row_start_);
    parser_.complete = false;
    row_start_ = 0;
    any_ = any_ || !table_.cells.empty();
  }

  CsvLayout layout_;
  Parser parser_;
  Table table_{};
  std::size_t line_ = 0;       // of the text that was added last
  std::size_t row_start_ = 0;  // of the row being read; 0 between rows
  std::size_t row_size_ = 0;   // bytes of it so far
  bool any_ = false;           // rows, also those that were taken
};

Table parse_csv(std::string_view text, std::string source, const CsvLayout& layout) {
  CsvRows rows(std::move(source), layout);
  while (!text.empty()) {
    const std::string_view now = first_line(text);
    text.remove_prefix(now.size());
    rows.add(now);
  }
  rows.end();
  return rows.take();
}

CsvReader::CsvReader(const std::filesystem::path& path, const CsvLayout& layout)
    : lines_(InputFile(path, "the data file"), CsvRows::longest_row, InputLines::Ends::lf_or_cr),
      rows_(std::make_unique<CsvRows>(path.string(), layout)) {}

CsvReader::~CsvReader() = default;

std::optional<Table> CsvReader::next(std::size_t most_rows) {
  return next_rows(lines_, *rows_, most_rows);
}

Table read_csv(const std::filesystem::path& path, const CsvLayout& layout) {
  return *CsvReader(path, layout).next(std::numeric_limits<std::size_t>::max());
}

std::string place(const Table& table, std::size_t row) {
  return at(table.source, table.line.at(row));
}

}  // namespace parley::data
