// Text cells → sparse feature rows, by a public schema.
// Privacy: a row's features depend on that row and the schema alone, and ‖x‖₂ ≤ 1 holds exactly (clip_to_unit_norm).
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/error.h"
#include "parley/data/dataset.h"
#include "parley/data/read/csv_layout.h"
#include "parley/data/schema.h"
#include "parley/data/table.h"

namespace parley::data {

struct CellFacts {
  bool missing = false, outside = false, unlisted = false;  // outside the bounds; not among the categories
  std::optional<Error::Fields> problem{};                   // what encode() would refuse it for
};

// The schema for the columns of one file; encodes a row at a time, on any number of threads.
class RowEncoder {
 public:
  RowEncoder(const std::vector<std::string>& columns, const std::string& source, const Schema& schema,
             const std::string& split_column);  // as encode
  static RowEncoder without_label(const std::vector<std::string>& columns, const std::string& source,
                                  const Schema& schema);  // as encode_features
  struct Known {};                                        // columns that are not in the schema were told already
  RowEncoder(Known, const std::vector<std::string>& columns, const std::string& source, const Schema& schema,
             bool with_label);
  ~RowEncoder();
  RowEncoder(const RowEncoder&) = delete;
  RowEncoder& operator=(const RowEncoder&) = delete;

  struct Scratch {  // a row's entries; memory that is used again
    std::vector<std::int32_t> columns;
    std::vector<double> values;
    std::vector<std::size_t> clipped{};  // of all rows so far, by column: cells beyond its bounds
    void add(std::int32_t column, double value) {
      if (value == 0) return;
      columns.push_back(column);
      values.push_back(value);
    }
  };

  Index features() const;
  void describe(Dataset& dataset) const;  // all but its name and rows
  void encode(std::span<const std::string_view> row, const Place& where, Rows& out, Scratch& scratch) const;
  // What encode() would meet in each column that it reads, the label last.
  void check(std::span<const std::string_view> row, const Place& where, std::vector<CellFacts>& facts) const;
  std::vector<std::string> checked() const;  // the names of these columns
  void add_key(std::span<const std::string_view> row, std::vector<std::string>& keys) const;  // of the split column

  // "column 'bmi': 4.2 % of the cells lie beyond …" of each that has some. Privacy: counted on rows; the owner's terminal
  // alone may show it.
  std::vector<std::string> clipped_in_words(std::span<const std::size_t> clipped, std::size_t rows) const;

 private:
  RowEncoder(const std::vector<std::string>& columns, const std::string& source, const Schema& schema);
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

// "column 'bmi': 4.2 % of the cells lie beyond …" Privacy: counted on rows; the owner's terminal alone may show it.
std::string clipped_share(const std::string& column, std::size_t clipped, std::size_t rows);

// Every column of the table must be in the schema (kind = "drop" to ignore one), and every schema column that is not
// dropped in the table. split_column: any column of the table, its raw text becomes split_key.
Dataset encode(const Table& table, const Schema& schema, std::string name, const std::string& split_column = "");

// For predict: no label column needed (ignored when there is one), labels are 0.
Rows encode_features(const Table& table, const Schema& schema);

}  // namespace parley::data
