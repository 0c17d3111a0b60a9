#include "parley/data/encode.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <unordered_set>
#include <utility>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/data/read/cell_number.h"
#include "parley/data/read/text_index.h"

namespace parley::data {
namespace {

constexpr std::size_t absent = static_cast<std::size_t>(-1);

using Cell = std::string_view;
using Entries = RowEncoder::Scratch;

using Columns = std::vector<std::string>;

std::size_t need_column(const Columns& columns, const std::string& source, const std::string& name,
                        const std::string& what) {
  const auto found = std::ranges::find(columns, name);
  if (found != columns.end()) return static_cast<std::size_t>(found - columns.begin());
  const std::string near = nearest(name, columns);
  throw Error({.what = what + " '" + name + "' is not in the table",
               .allowed = join(columns, ", "),
               .where = source,
               .fix = near.empty() ? "check the header line" : "did you mean '" + near + "'?"});
}

// Parties must agree on everything: a column that only one of them has is a mistake until the schema says "drop".
void check_columns(const Columns& columns, const std::string& source, const Schema& schema,
                   const std::string& fix = "") {
  std::unordered_set<std::string> known{schema.label.column};
  for (const auto& c : schema.columns) known.insert(c.name);
  for (const auto& name : columns)
    if (!known.contains(name))
      throw Error({.what = "column '" + name + "' is not in the schema",
                   .where = source,
                   .fix = !fix.empty() ? fix
                                       : "add [[columns]] name = \"" + name +
                                             "\" kind = \"drop\" to ignore it, or describe it"});
}

std::string abbreviated(const std::vector<std::string>& values) {
  constexpr std::size_t most = 8;
  if (values.size() <= most) return "'" + join(values, "', '") + "'";
  const std::vector<std::string> first(values.begin(), values.begin() + most);
  return "'" + join(first, "', '") + "', ... (" + std::to_string(values.size()) + " in all)";
}

// x, or the nearer bound, or an Error.
double in_range(double x, const Bounds& b, OutOfRange policy, const std::string& what, const Place& where) {
  if (x >= b.low && x <= b.high) return x;
  if (policy == OutOfRange::clip) return std::clamp(x, b.low, b.high);
  throw Error({.what = what + " is out of range",
               .value = number(x),
               .allowed = number(b.low) + " to " + number(b.high),
               .where = where.text(),
               .fix = "correct the cell, or all parties set out_of_range = \"clip\""});
}

double number_of(Cell cell, const std::string& what, const Place& where) {
  double x = 0;
  return plain_number(cell, x) ? x : parse_number(cell, what, where.text());
}

std::string quoted(Cell cell) {
  return "'" + std::string(cell) + "'";
}

// Cells that mean "missing". Most cells begin with a character that no mark begins with.
class MissingMarks {
 public:
  explicit MissingMarks(const Schema& schema) {
    for (const auto& mark : schema.missing) {
      marks_.add(mark, 0);
      begins_[mark.empty() ? 0 : static_cast<unsigned char>(mark.front())] = true;
    }
  }
  bool is(Cell cell) const {
    return begins_[cell.empty() ? 0 : static_cast<unsigned char>(cell.front())] && marks_.contains(cell);
  }

 private:
  TextIndex marks_;
  std::array<bool, 256> begins_{};
};

// One column of the schema with what every cell would otherwise look up again.
class Encoder {
 public:
  Encoder(const Column& column, const Schema& schema, std::size_t cell, std::int32_t first, std::size_t nth)
      : column_(column),
        cell_(cell),
        first_(first),
        number_(nth),
        what_("column '" + column.name + "'"),
        missing_(schema) {
    for (std::size_t i = 0; i < column.categories.size(); ++i)
      category_.add(column.categories[i], static_cast<std::int32_t>(i));
    for (const auto& mark : schema.missing)
      if (const auto found = category_.find(mark); found != TextIndex::absent) {
        missing_category_ = found;
        break;
      }
    if (column.bounds && column.transform != Transform::bins) {
      low_ = transformed(column.transform, column.bounds->low);
      width_ = transformed(column.transform, column.bounds->high) - low_;
    }
  }

  void encode(std::span<const Cell> row, const Place& where, Entries& out) const {
    const Cell cell = row[cell_];
    const bool missing = missing_.is(cell);
    if (missing && column_.missing == Missing::error)
      throw Error({.what = what_ + " is missing",
                   .value = quoted(cell),
                   .where = where.text(),
                   .fix = "fill the cell, or all parties set the column's 'missing' policy in the schema"});
    if (column_.kind == Kind::categorical) return encode_category(cell, missing, where, out);
    if (column_.transform == Transform::bins) return encode_bin(cell, missing, where, out);
    encode_number(cell, missing, where, out);
  }

  const std::string& what() const { return what_; }

 private:
  void count(double x, const Bounds& b, Entries& out) const {
    if (x < b.low || x > b.high) ++out.clipped[number_];
  }

  // (t(x) − t(low)) / (t(high) − t(low))
  void encode_number(Cell cell, bool missing, const Place& where, Entries& out) const {
    const Bounds b = column_.bounds.value_or(Bounds{});  // set: parse_schema demands it
    const double x = !missing                           ? number_of(cell, what_, where)
                     : column_.missing == Missing::low  ? b.low
                     : column_.missing == Missing::high ? b.high
                                                        : b.low / 2 + b.high / 2;
    count(x, b, out);
    const auto t = [&](double v) { return transformed(column_.transform, v); };
    const double scaled = (t(in_range(x, b, column_.out_of_range, what_, where)) - low_) / width_;
    out.add(first_, std::clamp(scaled, 0.0, 1.0));
  }

  // Bin k holds e_k <= x < e_{k+1}.
  void encode_bin(Cell cell, bool missing, const Place& where, Entries& out) const {
    if (missing && column_.missing == Missing::zero) return;
    const auto& e = column_.edges;
    std::size_t bin = 0;
    if (missing) {
      bin = column_.missing == Missing::low ? 0 : column_.missing == Missing::high ? e.size() : e.size() / 2;
    } else {
      double x = number_of(cell, what_, where);
      if (column_.bounds) count(x, *column_.bounds, out);
      if (column_.bounds) x = in_range(x, *column_.bounds, column_.out_of_range, what_, where);
      bin = static_cast<std::size_t>(std::ranges::upper_bound(e, x) - e.begin());
    }
    out.add(first_ + static_cast<std::int32_t>(bin), 1);
  }

  void encode_category(Cell cell, bool missing, const Place& where, Entries& out) const {
    if (missing && column_.missing == Missing::zero) return;
    if (const auto found = category_.find(cell); found != TextIndex::absent) return out.add(first_ + found, 1);
    if (missing && column_.missing == Missing::category) return out.add(first_ + missing_category_, 1);
    if (column_.other == Other::bucket)
      return out.add(first_ + static_cast<std::int32_t>(column_.categories.size()), 1);
    if (column_.other == Other::error)
      throw Error({.what = what_ + " has a value that is not among its categories",
                   .value = quoted(cell),
                   .allowed = abbreviated(column_.categories),
                   .where = where.text(),
                   .fix = "correct the cell, or all parties add the category or set other = \"bucket\""});
  }

  const Column& column_;
  std::size_t cell_;    // index in the table's row
  std::int32_t first_;  // its first feature
  std::size_t number_;  // of this encoder
  std::string what_;
  MissingMarks missing_;
  TextIndex category_;
  double low_ = 0, width_ = 1;         // t(low), t(high) − t(low)
  std::int32_t missing_category_ = 0;  // of the first missing mark that is a category
};

// The label column, the same.
class LabelEncoder {
 public:
  LabelEncoder(const Schema& schema, std::size_t cell)
      : label_(schema.label), cell_(cell), what_("label column '" + schema.label.column + "'"), missing_(schema) {
    for (const auto& text : label_.positive) value_.add(text, 1);
    for (const auto& text : label_.negative) value_.add(text, 0);
    for (std::size_t c = 0; c < label_.classes.size(); ++c) value_.add(label_.classes[c], static_cast<std::int32_t>(c));
  }

  double encode(std::span<const Cell> row, const Place& where) const {
    const Cell cell = row[cell_];
    if (label_.bounds) return encode_target(cell, where);
    const std::int32_t found = value_.find(cell);
    if (!label_.classes.empty() && found != TextIndex::absent) return found;
    if (found != TextIndex::absent) return 2 * found - 1;
    if (!label_.classes.empty())
      throw Error({.what = what_ + " has a value that is not among its classes",
                   .value = quoted(cell),
                   .allowed = abbreviated(label_.classes),
                   .where = where.text(),
                   .fix = "correct the cell, or all parties add the value to 'classes' under [label]"});
    throw Error({.what = "label is not binary: " + what_ + " has a value that is neither positive nor negative",
                 .value = quoted(cell),
                 .allowed = "+1: " + abbreviated(label_.positive) + "; -1: " + abbreviated(label_.negative),
                 .where = where.text(),
                 .fix = "correct the cell, or all parties list the value under [label]"});
  }

 private:
  double encode_target(Cell cell, const Place& where) const {
    const Bounds b = label_.bounds.value_or(Bounds{});
    if (missing_.is(cell))
      throw Error({.what = what_ + " is missing",
                   .value = quoted(cell),
                   .where = where.text(),
                   .fix = "remove the row or fill the cell"});
    const double y = in_range(number_of(cell, what_, where), b, label_.out_of_range, what_, where);
    return std::clamp(2 * ((y - b.low) / (b.high - b.low)) - 1, -1.0, 1.0);
  }

  const Label& label_;
  std::size_t cell_;
  std::string what_;
  MissingMarks missing_;
  TextIndex value_;  // 0: negative, 1: positive; or the class
};

}  // namespace

struct RowEncoder::Inside {
  Schema schema;
  std::vector<Encoder> columns{};
  std::optional<LabelEncoder> label{};
  Index features = 0;
  std::size_t key = absent;  // of the split column
};

RowEncoder::RowEncoder(const Columns& columns, const std::string& source, const Schema& schema,
                       const std::string& split_column)
    : RowEncoder(columns, source, schema) {
  check_columns(columns, source, schema);
  if (!split_column.empty()) inside_->key = need_column(columns, source, split_column, "split column");
  inside_->label.emplace(inside_->schema, need_column(columns, source, inside_->schema.label.column, "label column"));
}

RowEncoder::RowEncoder(const Columns& columns, const std::string& source, const Schema& schema)
    : inside_(std::make_unique<Inside>(Inside{.schema = schema})) {
  std::int32_t next = 0;
  for (const auto& c : inside_->schema.columns) {
    if (c.kind == Kind::drop) continue;
    inside_->columns.emplace_back(c, inside_->schema, need_column(columns, source, c.name, "schema column"), next,
                                  inside_->columns.size());
    next += static_cast<std::int32_t>(feature_names(c).size());
  }
  inside_->features = next + (schema.intercept ? 1 : 0);
}

RowEncoder RowEncoder::without_label(const Columns& columns, const std::string& source, const Schema& schema) {
  check_columns(columns, source, schema,
                "take it out of the file: the schema is the model's, and its parties agreed on it");
  return RowEncoder(columns, source, schema);
}

RowEncoder::~RowEncoder() = default;

Index RowEncoder::features() const {
  return inside_->features;
}

void RowEncoder::describe(Dataset& dataset) const {
  const Schema& schema = inside_->schema;
  dataset.rows.features = inside_->features;
  dataset.feature_names = feature_names(schema);
  dataset.schema_toml = to_toml(schema);
  dataset.regression = schema.label.regression();
  dataset.classes = schema.label.classes;
}

void RowEncoder::encode(std::span<const Cell> row, const Place& where, Rows& out, Scratch& x) const {
  x.columns.clear();
  x.values.clear();
  x.clipped.resize(inside_->columns.size());
  for (const auto& encoder : inside_->columns) encoder.encode(row, where, x);
  if (inside_->schema.intercept) x.add(static_cast<std::int32_t>(inside_->features - 1), 1);
  clip_to_unit_norm(x.values);
  out.append(x.columns, x.values, inside_->label ? inside_->label->encode(row, where) : 0);
}

std::vector<std::string> RowEncoder::clipped_in_words(std::span<const std::size_t> clipped, std::size_t rows) const {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < clipped.size(); ++i) {
    if (clipped[i] == 0) continue;
    const double percent = 100 * static_cast<double>(clipped[i]) / static_cast<double>(rows);
    all.push_back(inside_->columns[i].what() + ": " +
                  (percent < 0.01 ? "less than 0.01" : number(std::round(100 * percent) / 100)) +
                  " % of the cells lie beyond its bounds and are clipped to them; a code such as 999 for \"unknown\" "
                  "belongs among the schema's missing marks (private: counted on the rows)");
  }
  return all;
}

void RowEncoder::add_key(std::span<const Cell> row, std::vector<std::string>& keys) const {
  if (inside_->key != absent) keys.emplace_back(row[inside_->key]);
}

namespace {

void encode_all(const Table& table, const RowEncoder& encoder, Dataset& to) {
  encoder.describe(to);
  RowEncoder::Scratch scratch;
  std::vector<Cell> cells;
  for (std::size_t n = 0; n < table.cells.size(); ++n) {
    cells.assign(table.cells[n].begin(), table.cells[n].end());
    encoder.encode(cells, {&table.source, table.line.at(n)}, to.rows, scratch);
    encoder.add_key(cells, to.split_key);
  }
}

}  // namespace

Dataset encode(const Table& table, const Schema& schema, std::string name, const std::string& split_column) {
  Dataset dataset;
  dataset.name = std::move(name);
  encode_all(table, RowEncoder(table.columns, table.source, schema, split_column), dataset);
  return dataset;
}

Rows encode_features(const Table& table, const Schema& schema) {
  Dataset dataset;
  encode_all(table, RowEncoder::without_label(table.columns, table.source, schema), dataset);
  return std::move(dataset.rows);
}

}  // namespace parley::data
