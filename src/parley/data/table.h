// A CSV file as text cells, with the line each row starts at, so that every later complaint can name its place.
#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/data/read/bytes.h"
#include "parley/data/read/csv_layout.h"

namespace parley::data {

struct Table {
  std::string source;                           // the file, for messages
  std::vector<std::string> columns;             // unique, non-empty names
  std::vector<std::vector<std::string>> cells;  // cells[row][column]; every row has columns.size() cells, valid UTF-8
  std::vector<std::size_t> line;                // 1-based line number in the file where the row starts
};

// What load_csv and the readers below say of a file's rows.
std::vector<std::string> column_names(const CsvLayout& layout, const std::vector<std::string_view>& first_row,
                                      const std::string& where);
[[noreturn]] void refuse_ragged(const std::vector<std::string_view>& fields, std::size_t columns,
                                const CsvLayout& layout, const Place& where);
[[noreturn]] void refuse_empty(const std::string& source, const CsvLayout& layout, bool has_header);

// RFC 4180: quotes may hold commas, line ends and doubled quotes. Strict: bad quoting, ragged rows, duplicate names, no
// rows, bytes that are not UTF-8 are Errors with the line. A UTF-8 byte order mark and blank lines are skipped.
Table read_csv(const std::filesystem::path& path, const CsvLayout& layout = {});
Table parse_csv(std::string_view text, std::string source, const CsvLayout& layout = {});

// The same file some rows at a time: memory follows these, not the file.
class CsvReader {
 public:
  explicit CsvReader(Bytes bytes, const CsvLayout& layout = {});
  explicit CsvReader(const std::filesystem::path& path, const CsvLayout& layout = {});
  ~CsvReader();
  CsvReader(const CsvReader&) = delete;
  CsvReader& operator=(const CsvReader&) = delete;
  std::optional<Table> next(std::size_t most_rows);  // the next rows, at least one; nullopt: there are no more
  char delimiter() const;                            // as given, or as found; 0: nothing is read yet

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

// "mine.csv:17"
std::string place(const Table& table, std::size_t row);

}  // namespace parley::data
