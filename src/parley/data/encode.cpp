#include "parley/data/encode.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "parley/base/error.h"
#include "parley/base/text.h"

namespace parley::data {
namespace {

constexpr std::size_t absent = static_cast<std::size_t>(-1);

struct Entries {
  std::vector<std::int32_t> columns;
  std::vector<double> values;
  void add(std::int32_t column, double value) {
    if (value == 0) return;
    columns.push_back(column);
    values.push_back(value);
  }
};

std::size_t find_column(const Table& table, const std::string& name) {
  const auto found = std::ranges::find(table.columns, name);
  return found == table.columns.end() ? absent : static_cast<std::size_t>(found - table.columns.begin());
}

std::size_t need_column(const Table& table, const std::string& name, const std::string& what) {
  const std::size_t i = find_column(table, name);
  if (i != absent) return i;
  const std::string near = nearest(name, table.columns);
  throw Error({.what = what + " '" + name + "' is not in the table",
               .allowed = join(table.columns, ", "),
               .where = table.source,
               .fix = near.empty() ? "check the header line" : "did you mean '" + near + "'?"});
}

// Parties must agree on everything: a column that only one of them has is a mistake until the schema says "drop".
void check_columns(const Table& table, const Schema& schema, const std::string& fix = "") {
  std::unordered_set<std::string> known{schema.label.column};
  for (const auto& c : schema.columns) known.insert(c.name);
  for (const auto& name : table.columns)
    if (!known.contains(name))
      throw Error({.what = "column '" + name + "' is not in the schema",
                   .where = table.source,
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
double in_range(double x, const Bounds& b, OutOfRange policy, const std::string& what, const std::string& where) {
  if (x >= b.low && x <= b.high) return x;
  if (policy == OutOfRange::clip) return std::clamp(x, b.low, b.high);
  throw Error({.what = what + " is out of range",
               .value = number(x),
               .allowed = number(b.low) + " to " + number(b.high),
               .where = where,
               .fix = "correct the cell, or all parties set out_of_range = \"clip\""});
}

// One column of the schema with what every cell would otherwise look up again.
class Encoder {
 public:
  Encoder(const Column& column, const Schema& schema, std::size_t cell, std::int32_t first)
      : column_(column),
        cell_(cell),
        first_(first),
        what_("column '" + column.name + "'"),
        missing_(schema.missing.begin(), schema.missing.end()),
        centred_(schema.scale == Scale::bound) {
    for (std::size_t i = 0; i < column.categories.size(); ++i)
      category_.emplace(column.categories[i], static_cast<std::int32_t>(i));
    for (const auto& mark : schema.missing)
      if (const auto found = category_.find(mark); found != category_.end()) {
        missing_category_ = found->second;
        break;
      }
  }

  void encode(const std::vector<std::string>& row, const std::string& where, Entries& out) const {
    const std::string& cell = row[cell_];
    const bool missing = missing_.contains(cell);
    if (missing && column_.missing == Missing::error)
      throw Error({.what = what_ + " is missing",
                   .value = "'" + cell + "'",
                   .where = where,
                   .fix = "fill the cell, or all parties set the column's 'missing' policy in the schema"});
    if (column_.kind == Kind::categorical) return encode_category(cell, missing, where, out);
    if (column_.transform == Transform::bins) return encode_bin(cell, missing, where, out);
    encode_number(cell, missing, where, out);
  }

 private:
  // (t(x) − t(low)) / (t(high) − t(low)); centred: twice that, less 1
  void encode_number(const std::string& cell, bool missing, const std::string& where, Entries& out) const {
    const Bounds b = column_.bounds.value_or(Bounds{});  // set: parse_schema demands it
    const double x = !missing                           ? parse_number(cell, what_, where)
                     : column_.missing == Missing::low  ? b.low
                     : column_.missing == Missing::high ? b.high
                                                        : b.low / 2 + b.high / 2;
    const auto t = [&](double v) { return transformed(column_.transform, v); };
    const double scaled = (t(in_range(x, b, column_.out_of_range, what_, where)) - t(b.low)) / (t(b.high) - t(b.low));
    const double from_0 = std::clamp(scaled, 0.0, 1.0);
    out.add(first_, centred_ ? 2 * from_0 - 1 : from_0);
  }

  // Feature k of the column; of a column with a reference the first one is none.
  void add_one_of(std::int32_t k, Entries& out) const {
    if (column_.reference && k == 0) return;
    out.add(first_ + k - (column_.reference ? 1 : 0), 1);
  }

  // Bin k holds e_k <= x < e_{k+1}.
  void encode_bin(const std::string& cell, bool missing, const std::string& where, Entries& out) const {
    if (missing && column_.missing == Missing::zero) return;
    const auto& e = column_.edges;
    std::size_t bin = 0;
    if (missing) {
      bin = column_.missing == Missing::low ? 0 : column_.missing == Missing::high ? e.size() : e.size() / 2;
    } else {
      double x = parse_number(cell, what_, where);
      if (column_.bounds) x = in_range(x, *column_.bounds, column_.out_of_range, what_, where);
      bin = static_cast<std::size_t>(std::ranges::upper_bound(e, x) - e.begin());
    }
    add_one_of(static_cast<std::int32_t>(bin), out);
  }

  void encode_category(const std::string& cell, bool missing, const std::string& where, Entries& out) const {
    if (missing && column_.missing == Missing::zero) return;
    if (const auto found = category_.find(cell); found != category_.end()) return add_one_of(found->second, out);
    if (missing && column_.missing == Missing::category) return add_one_of(missing_category_, out);
    if (column_.other == Other::bucket) return add_one_of(static_cast<std::int32_t>(column_.categories.size()), out);
    if (column_.other == Other::error)
      throw Error({.what = what_ + " has a value that is not among its categories",
                   .value = "'" + cell + "'",
                   .allowed = abbreviated(column_.categories),
                   .where = where,
                   .fix = "correct the cell, or all parties add the category or set other = \"bucket\""});
  }

  const Column& column_;
  std::size_t cell_;    // index in the table's row
  std::int32_t first_;  // its first feature
  std::string what_;
  std::unordered_set<std::string> missing_;
  bool centred_;
  std::unordered_map<std::string, std::int32_t> category_;
  std::int32_t missing_category_ = 0;  // of the first missing mark that is a category
};

double encode_label(const std::string& cell, const Schema& schema, const std::string& where) {
  const Label& label = schema.label;
  const std::string what = "label column '" + label.column + "'";
  if (label.bounds) {
    const Bounds& b = *label.bounds;
    if (std::ranges::find(schema.missing, cell) != schema.missing.end())
      throw Error({.what = what + " is missing",
                   .value = "'" + cell + "'",
                   .where = where,
                   .fix = "remove the row or fill the cell"});
    const double y = in_range(parse_number(cell, what, where), b, label.out_of_range, what, where);
    return std::clamp(2 * ((y - b.low) / (b.high - b.low)) - 1, -1.0, 1.0);
  }
  if (!label.classes.empty()) {
    const auto found = std::ranges::find(label.classes, cell);
    if (found != label.classes.end()) return static_cast<double>(found - label.classes.begin());
    throw Error({.what = what + " has a value that is not among its classes",
                 .value = "'" + cell + "'",
                 .allowed = abbreviated(label.classes),
                 .where = where,
                 .fix = "correct the cell, or all parties add the value to 'classes' under [label]"});
  }
  if (std::ranges::find(label.positive, cell) != label.positive.end()) return 1;
  if (std::ranges::find(label.negative, cell) != label.negative.end()) return -1;
  throw Error({.what = "label is not binary: " + what + " has a value that is neither positive nor negative",
               .value = "'" + cell + "'",
               .allowed = "+1: " + abbreviated(label.positive) + "; -1: " + abbreviated(label.negative),
               .where = where,
               .fix = "correct the cell, or all parties list the value under [label]"});
}

// label: index of the label column, or absent for labels 0.
Rows encode_rows(const Table& table, const Schema& schema, std::size_t label) {
  Rows rows;
  std::vector<Encoder> encoders;
  std::int32_t next = 0;
  for (const auto& c : schema.columns) {
    if (c.kind == Kind::drop) continue;
    encoders.emplace_back(c, schema, need_column(table, c.name, "schema column"), next);
    next += static_cast<std::int32_t>(feature_names(c).size());
  }
  rows.features = next + (schema.intercept ? 1 : 0);
  const double bound = schema.scale == Scale::bound ? divisor(schema) : 1;
  Entries x;
  for (std::size_t n = 0; n < table.cells.size(); ++n) {
    const std::string where = place(table, n);
    x.columns.clear();
    x.values.clear();
    for (const auto& encoder : encoders) encoder.encode(table.cells[n], where, x);
    if (schema.intercept) x.add(next, 1);
    for (double& value : x.values) value /= bound;
    clip_to_unit_norm(x.values);  // after division by the bound: rounding alone
    rows.append(x.columns, x.values, label == absent ? 0 : encode_label(table.cells[n][label], schema, where));
  }
  return rows;
}

}  // namespace

Dataset encode(const Table& table, const Schema& schema, std::string name, const std::string& split_column) {
  check_columns(table, schema);
  const std::size_t key = split_column.empty() ? absent : need_column(table, split_column, "split column");
  Dataset dataset;
  dataset.name = std::move(name);
  dataset.rows = encode_rows(table, schema, need_column(table, schema.label.column, "label column"));
  dataset.feature_names = feature_names(schema);
  dataset.schema_toml = to_toml(schema);
  dataset.regression = schema.label.regression();
  dataset.classes = schema.label.classes;
  if (key != absent)
    for (const auto& row : table.cells) dataset.split_key.push_back(row[key]);
  return dataset;
}

Rows encode_features(const Table& table, const Schema& schema) {
  check_columns(table, schema, "take it out of the file: the schema is the model's, and its parties agreed on it");
  return encode_rows(table, schema, absent);
}

}  // namespace parley::data
