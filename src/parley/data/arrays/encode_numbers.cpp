#include "parley/data/arrays/encode_numbers.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/data/arrays/number_scale.h"
#include "parley/data/encode.h"

namespace parley::data {
namespace {

std::string place(const std::string& name, std::size_t row) {
  return name + ", row " + std::to_string(row + 1);
}

class NumberEncoder {
 public:
  NumberEncoder(const Schema& schema, std::string name) : schema_(schema), name_(std::move(name)) {
    for (const Column& column : schema.columns) {
      if (column.kind == Kind::drop) continue;
      if (column.kind != Kind::numeric || column.transform == Transform::bins || column.date != DatePart::none ||
          !column.bounds)
        throw Error({.what = "column '" + column.name + "' is no plain number, and these rows are numbers",
                     .where = name_,
                     .fix = "give rows with texts as a table, or numbers with bounds in the schema"});
      columns_.push_back(&column);
      scales_.emplace_back(column, schema.scale);
      zeros_.push_back(scales_.back()(std::clamp(0.0, column.bounds->low, column.bounds->high)));
    }
    clipped_.resize(columns_.size());
    if (schema.scale == Scale::bound) bound_ = divisor(schema);
  }

  void check_columns(std::size_t given) const {
    if (given != columns_.size())
      throw Error(
          {.what = "the rows have " + std::to_string(given) + " columns, the schema " + std::to_string(columns_.size()),
           .where = name_,
           .fix = "give the columns of the schema in its order"});
  }

  // What is left out of a sparse row must become 0.
  void check_zeros() const {
    for (std::size_t c = 0; c < columns_.size(); ++c)
      if (zeros_[c] != 0)
        throw Error({.what = "column '" + columns_[c]->name + "' of sparse rows: 0 would not stay 0",
                     .value = "bounds " + number(columns_[c]->bounds->low) + " to " + number(columns_[c]->bounds->high),
                     .allowed = "low = 0, and scale = \"clip\"",
                     .where = name_,
                     .fix = "declare such bounds, or give a dense matrix"});
  }

  void add(std::size_t c, double x, std::size_t row) {
    const Bounds& b = *columns_[c]->bounds;
    if (!std::isfinite(x))
      throw Error({.what = "column '" + columns_[c]->name + "' has a value that is no finite number",
                   .value = number(x),
                   .where = place(name_, row),
                   .fix = "fill it, or remove the row"});
    if (x < b.low || x > b.high) {
      if (columns_[c]->out_of_range == OutOfRange::error)
        throw Error({.what = "column '" + columns_[c]->name + "' is out of range",
                     .value = number(x),
                     .allowed = number(b.low) + " to " + number(b.high),
                     .where = place(name_, row),
                     .fix = "correct it, or set out_of_range = \"clip\""});
      ++clipped_[c];
    }
    scratch_.add(static_cast<std::int32_t>(c), scales_[c](std::clamp(x, b.low, b.high)));
  }

  void finish_row(double label, Rows& out) {
    if (schema_.intercept) scratch_.add(static_cast<std::int32_t>(columns_.size()), 1);
    for (double& value : scratch_.values) value /= bound_;
    clip_to_unit_norm(scratch_.values);
    out.append(scratch_.columns, scratch_.values, label);
    scratch_.columns.clear();
    scratch_.values.clear();
  }

  double label(double y, std::size_t row) const {
    const Label& l = schema_.label;
    if (l.bounds && std::isfinite(y)) {
      if (l.out_of_range == OutOfRange::clip || (y >= l.bounds->low && y <= l.bounds->high))
        return scaled_target(std::clamp(y, l.bounds->low, l.bounds->high), *l.bounds);
    } else if (l.classes.empty() && (y == 1 || y == -1)) {
      return y;
    } else if (!l.classes.empty() && y >= 0 && y < static_cast<double>(l.classes.size()) && y == std::floor(y)) {
      return y;
    }
    throw Error({.what = "a label that the schema does not know",
                 .value = number(y),
                 .allowed = l.bounds            ? number(l.bounds->low) + " to " + number(l.bounds->high)
                            : l.classes.empty() ? "-1, 1"
                                                : "0 to " + std::to_string(l.classes.size() - 1),
                 .where = place(name_, row),
                 .fix = "correct it, or the label of the schema"});
  }

  EncodedNumbers begin(std::size_t rows, std::span<const double> labels) const {
    if (!labels.empty() && labels.size() != rows)
      throw Error({.what = std::to_string(labels.size()) + " labels for " + std::to_string(rows) + " rows",
                   .where = name_,
                   .fix = "give one label for each row"});
    EncodedNumbers out;
    out.dataset.name = name_;
    out.dataset.feature_names = feature_names(schema_);
    out.dataset.rows.features = static_cast<Index>(out.dataset.feature_names.size());
    out.dataset.schema_toml = to_toml(schema_);
    out.dataset.regression = schema_.label.regression();
    out.dataset.classes = schema_.label.classes;
    out.dataset.rows.label.reserve(rows);
    out.dataset.rows.start.reserve(rows + 1);
    return out;
  }

  void end(EncodedNumbers& out) const {
    for (std::size_t c = 0; c < clipped_.size(); ++c)
      if (clipped_[c] > 0)
        out.warnings.push_back(
            clipped_share("column '" + columns_[c]->name + "'", clipped_[c], out.dataset.rows.count()));
  }

 private:
  const Schema& schema_;
  std::string name_;
  std::vector<const Column*> columns_;
  std::vector<NumberScale> scales_;
  std::vector<double> zeros_;  // what 0 becomes
  std::vector<std::size_t> clipped_;
  RowEncoder::Scratch scratch_;
  double bound_ = 1;
};

}  // namespace

EncodedNumbers encode_numbers(const DenseNumbers& x, std::span<const double> labels, const Schema& schema,
                              const std::string& name) {
  NumberEncoder encoder(schema, name);
  encoder.check_columns(x.columns);
  EncodedNumbers out = encoder.begin(x.rows, labels);
  out.dataset.rows.value.reserve(x.rows * (x.columns + 1));
  out.dataset.rows.column.reserve(x.rows * (x.columns + 1));
  for (std::size_t r = 0; r < x.rows; ++r) {
    const double* cell = x.first + static_cast<std::ptrdiff_t>(r) * x.row_step;
    for (std::size_t c = 0; c < x.columns; ++c, cell += x.column_step) encoder.add(c, *cell, r);
    encoder.finish_row(labels.empty() ? 0 : encoder.label(labels[r], r), out.dataset.rows);
  }
  encoder.end(out);
  return out;
}

EncodedNumbers encode_numbers(const SparseNumbers& x, std::span<const double> labels, const Schema& schema,
                              const std::string& name) {
  NumberEncoder encoder(schema, name);
  encoder.check_columns(x.columns);
  encoder.check_zeros();
  expects(!x.start.empty() && x.column.size() == x.value.size(), "sparse rows of three arrays that belong together");
  const std::size_t rows = x.start.size() - 1;
  EncodedNumbers out = encoder.begin(rows, labels);
  for (std::size_t r = 0; r < rows; ++r) {
    std::int64_t before = -1;
    for (std::int64_t k = x.start[r]; k < x.start[r + 1]; ++k) {
      const bool inside = k >= 0 && static_cast<std::size_t>(k) < x.value.size();
      const std::int64_t column = inside ? x.column[static_cast<std::size_t>(k)] : -1;
      if (column <= before || static_cast<std::size_t>(column) >= x.columns)
        throw Error({.what = "the columns of a sparse row are not in increasing order, or not there",
                     .where = place(name, r),
                     .fix = "sort the indices and add up duplicates first"});
      before = column;
      encoder.add(static_cast<std::size_t>(column), x.value[static_cast<std::size_t>(k)], r);
    }
    encoder.finish_row(labels.empty() ? 0 : encoder.label(labels[r], r), out.dataset.rows);
  }
  encoder.end(out);
  return out;
}

Schema schema_of(const NumericColumns& columns) {
  expects(columns.names.size() == columns.bounds.size(), "bounds for each column");
  Schema schema;
  schema.intercept = columns.intercept;
  schema.scale = columns.scale;
  schema.label.column = columns.label;
  if (columns.classes.empty()) {
    schema.label.bounds = columns.target;
  } else if (columns.classes.size() == 2 && !columns.softmax) {
    schema.label.negative = {columns.classes[0]};
    schema.label.positive = {columns.classes[1]};
  } else {
    schema.label.classes = columns.classes;
  }
  for (std::size_t c = 0; c < columns.names.size(); ++c)
    schema.columns.push_back({.name = columns.names[c], .kind = Kind::numeric, .bounds = columns.bounds[c]});
  return parse_schema(to_toml(schema), "bounds");  // and every rule of a schema with it
}

}  // namespace parley::data
