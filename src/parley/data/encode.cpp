#include "parley/data/encode.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/data/arrays/number_scale.h"
#include "parley/data/read/cell.h"
#include "parley/data/read/columns.h"
#include "parley/data/read/label_encoder.h"
#include "parley/data/read/missing_marks.h"
#include "parley/data/read/text_index.h"

namespace parley::data {
namespace {

constexpr std::size_t absent = static_cast<std::size_t>(-1);

using Entries = RowEncoder::Scratch;

using Columns = std::vector<std::string>;

// One column of the schema with what every cell would otherwise look up again.
class Encoder {
 public:
  Encoder(const Column& column, const Schema& schema, std::size_t cell, std::int32_t first, std::size_t nth)
      : column_(column),
        cell_(cell),
        first_(first),
        number_(nth),
        what_("column '" + column.name + "'"),
        missing_(schema),
        fold_(schema.fold),
        scale_(column, schema.scale) {
    for (std::size_t i = 0; i < column.categories.size(); ++i)
      category_.add(folded(column.categories[i], fold_), static_cast<std::int32_t>(i));
    for (const auto& [text, category] : column.aliases)
      category_.add(folded(text, fold_), category_.find(folded(category, fold_)));
    for (const auto& mark : schema.missing)
      if (const auto found = category_.find(folded(mark, fold_)); found != TextIndex::absent) {
        missing_category_ = found;
        break;
      }
  }

  const Column& column() const { return column_; }

  CellFacts facts(std::span<const Cell> row) const {
    std::string text;
    const Cell cell = read(row[cell_], text);
    CellFacts facts{.missing = missing_.is(cell)};
    if (facts.missing) return facts;
    if (column_.kind == Kind::categorical) facts.unlisted = find_category(cell) == TextIndex::absent;
    double x = 0;
    if (column_.kind == Kind::numeric && column_.bounds && number_in(cell, x))
      facts.outside = x < column_.bounds->low || x > column_.bounds->high;
    return facts;
  }

  void encode(std::span<const Cell> row, const Place& where, Entries& out) const {
    const Cell given = row[cell_];
    std::string text;
    const Cell cell = read(given, text);
    const bool missing = missing_.is(cell);
    if (missing && column_.missing == Missing::error)
      throw Error({.what = what_ + " is missing",
                   .value = quoted(given),
                   .where = where.text(),
                   .fix = "fill the cell, or all parties set the column's 'missing' policy in the schema"});
    if (column_.kind == Kind::categorical) return encode_category(given, cell, missing, where, out);
    if (column_.transform == Transform::bins) return encode_bin(cell, missing, where, out);
    encode_number(cell, missing, where, out);
  }

  const std::string& what() const { return what_; }

 private:
  void count(double x, const Bounds& b, Entries& out) const {
    if (x < b.low || x > b.high) ++out.clipped[number_];
  }

  void encode_number(Cell cell, bool missing, const Place& where, Entries& out) const {
    const Bounds b = column_.bounds.value_or(Bounds{});  // set: parse_schema demands it
    const double x = !missing                           ? measure(cell, where)
                     : column_.missing == Missing::low  ? b.low
                     : column_.missing == Missing::high ? b.high
                                                        : b.low / 2 + b.high / 2;
    count(x, b, out);
    out.add(first_, scale_(in_range(x, b, column_.out_of_range, what_, where)));
  }

  // Feature k of the column; of a column with a reference the first one is none.
  void add_one_of(std::int32_t k, Entries& out) const {
    if (column_.reference && k == 0) return;
    out.add(first_ + k - (column_.reference ? 1 : 0), 1);
  }

  // Bin k holds e_k <= x < e_{k+1}.
  void encode_bin(Cell cell, bool missing, const Place& where, Entries& out) const {
    if (missing && column_.missing == Missing::zero) return;
    const auto& e = column_.edges;
    std::size_t bin = 0;
    if (missing) {
      bin = column_.missing == Missing::low ? 0 : column_.missing == Missing::high ? e.size() : e.size() / 2;
    } else {
      double x = measure(cell, where);
      if (column_.bounds) count(x, *column_.bounds, out);
      if (column_.bounds) x = in_range(x, *column_.bounds, column_.out_of_range, what_, where);
      bin = static_cast<std::size_t>(std::ranges::upper_bound(e, x) - e.begin());
    }
    add_one_of(static_cast<std::int32_t>(bin), out);
  }

  void encode_category(Cell given, Cell cell, bool missing, const Place& where, Entries& out) const {
    if (missing && column_.missing == Missing::zero) return;
    if (const auto found = find_category(cell); found != TextIndex::absent) return add_one_of(found, out);
    if (missing && column_.missing == Missing::category) return add_one_of(missing_category_, out);
    if (column_.other == Other::bucket) return add_one_of(static_cast<std::int32_t>(column_.categories.size()), out);
    if (column_.other == Other::error)
      throw Error({.what = what_ + " has a value that is not among its categories",
                   .value = quoted(given),
                   .allowed = abbreviated(column_.categories),
                   .where = where.text(),
                   .fix = meant(cell, column_.categories,
                                "correct the cell, or all parties add the category or set other = \"bucket\"")});
  }

  // The cell as it is compared. text: where it is kept when it is not as it was given.
  Cell read(Cell given, std::string& text) const {
    if (fold_ == Fold::none) return given;
    text = folded(given, fold_);
    return text;
  }

  bool number_in(Cell cell, double& x) const {
    if (column_.date == DatePart::none) return any_number(cell, x);
    const auto day = day_of(cell);
    if (day) x = date_part(*day, column_);
    return day.has_value();
  }

  double measure(Cell cell, const Place& where) const {
    double x = 0;
    if (number_in(cell, x)) return x;
    if (column_.date == DatePart::none) return parse_number(cell, what_, where.text());
    throw Error({.what = what_ + " is not a date of the calendar",
                 .value = quoted(cell),
                 .allowed = "YYYY-MM-DD; a time of day may follow",
                 .where = where.text(),
                 .fix = "write it so, for example 2024-02-29"});
  }

  std::int32_t find_category(Cell cell) const {
    const std::int32_t found = category_.find(cell);
    if (found != TextIndex::absent || !column_.codes) return found;
    double x = 0;
    const auto code = column_.date == DatePart::none ? code_of(cell)
                      : number_in(cell, x)           ? std::optional(number(x))
                                                     : std::nullopt;
    return code ? category_.find(*code) : TextIndex::absent;
  }

  const Column& column_;
  std::size_t cell_;    // index in the table's row
  std::int32_t first_;  // its first feature
  std::size_t number_;  // of this encoder
  std::string what_;
  MissingMarks missing_;
  Fold fold_;
  NumberScale scale_;
  TextIndex category_;
  std::int32_t missing_category_ = 0;  // of the first missing mark that is a category
};

// The columns, when they are the schema's and no others.
Columns fitting(Columns columns, const std::string& source, const Schema& schema, bool with_label) {
  check_columns(columns, source, schema, with_label);
  return columns;
}

}  // namespace

struct RowEncoder::Inside {
  Schema schema;
  std::vector<Encoder> columns{};
  std::optional<LabelEncoder> label{};
  Index features = 0;
  double bound = 1;          // of the norm, where that divides every row
  std::size_t key = absent;  // of the split column
};

RowEncoder::RowEncoder(const Columns& columns, const std::string& source, const Schema& schema,
                       const std::string& split_column)
    : RowEncoder(fitting(columns, source, schema, true), source, schema) {
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
  if (schema.scale == Scale::bound) inside_->bound = divisor(schema);
}

RowEncoder::RowEncoder(Known, const Columns& columns, const std::string& source, const Schema& schema, bool with_label)
    : RowEncoder(columns, source, schema) {
  if (with_label)
    inside_->label.emplace(inside_->schema, need_column(columns, source, inside_->schema.label.column, "label column"));
}

RowEncoder RowEncoder::without_label(const Columns& columns, const std::string& source, const Schema& schema) {
  return RowEncoder(fitting(columns, source, schema, false), source, schema);
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
  for (double& value : x.values) value /= inside_->bound;
  clip_to_unit_norm(x.values);  // after division by the bound: rounding alone
  out.append(x.columns, x.values, inside_->label ? inside_->label->encode(row, where) : 0);
}

std::string clipped_share(const std::string& column, std::size_t clipped, std::size_t rows) {
  const double percent = 100 * static_cast<double>(clipped) / static_cast<double>(rows);
  return column + ": " + (percent < 0.01 ? "less than 0.01" : number(std::round(100 * percent) / 100)) +
         " % of the cells lie beyond its bounds and are clipped to them; a code such as 999 for \"unknown\" "
         "belongs among the schema's missing marks (private: counted on the rows)";
}

std::vector<std::string> RowEncoder::clipped_in_words(std::span<const std::size_t> clipped, std::size_t rows) const {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < clipped.size(); ++i) {
    if (clipped[i] == 0) continue;
    all.push_back(clipped_share(inside_->columns[i].what(), clipped[i], rows));
  }
  return all;
}

std::vector<std::string> RowEncoder::checked() const {
  std::vector<std::string> names;
  for (const auto& encoder : inside_->columns) names.push_back(encoder.column().name);
  if (inside_->label) names.push_back(inside_->schema.label.column);
  return names;
}

void RowEncoder::check(std::span<const Cell> row, const Place& where, std::vector<CellFacts>& facts) const {
  Scratch scratch;
  scratch.clipped.resize(inside_->columns.size());
  const auto attempt = [&](const auto& encode) {
    try {
      encode();
    } catch (const Error& e) {
      facts.back().problem = e.fields().front();
    }
  };
  facts.clear();
  for (const auto& encoder : inside_->columns) {
    facts.push_back(encoder.facts(row));
    attempt([&] { encoder.encode(row, where, scratch); });
  }
  if (!inside_->label) return;
  facts.emplace_back();
  attempt([&] { inside_->label->encode(row, where); });
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
