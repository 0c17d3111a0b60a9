#include <utility>

#include "parley/base/input_file.h"
#include "parley/data/arrays/encode_numbers.h"
#include "parley/data/draft.h"
#include "parley/data/read/load_csv.h"
#include "parley/data/source.h"
#include "parley/library/inside.h"

namespace parley {
namespace {

Rows handle(data::Dataset dataset, std::vector<std::string> warnings, const std::string& not_public = "") {
  if (!not_public.empty()) dataset.not_public = not_public;
  return Rows(std::make_shared<const Rows::Inside>(Rows::Inside{std::move(dataset), std::move(warnings)}));
}

data::Schema parsed(const Schema& schema) {
  return data::parse_schema(schema.toml, "the schema");
}

}  // namespace

const char* version() {
  return PARLEY_VERSION;
}

std::vector<std::string> Schema::features() const {
  return data::feature_names(parsed(*this));
}

Schema read_schema(const std::filesystem::path& file) {
  constexpr std::uintmax_t most = 16 * mebibyte;
  return {data::to_toml(data::parse_schema(data::read_schema(file.string(), most), file.string()))};
}

Schema schema_of(const NumberColumns& c) {
  data::NumericColumns columns{.names = {},
                               .bounds = {},
                               .label = c.label,
                               .classes = c.classes,
                               .target = {c.label_low, c.label_high},
                               .intercept = c.intercept,
                               .scale = c.linear ? data::Scale::bound : data::Scale::clip,
                               .softmax = c.softmax};
  for (const NumberColumn& column : c.columns) {
    columns.names.push_back(column.name);
    columns.bounds.push_back({column.low, column.high});
  }
  return {data::to_toml(data::schema_of(columns))};
}

std::vector<NumberColumn> number_columns(const Schema& schema) {
  std::vector<NumberColumn> columns;
  for (const data::Column& c : parsed(schema).columns)
    if (c.kind == data::Kind::numeric && c.bounds)
      columns.push_back({.name = c.name, .low = c.bounds->low, .high = c.bounds->high});
  return columns;
}

std::size_t Rows::count() const {
  return inside_->dataset.rows.count();
}

std::size_t Rows::features() const {
  return static_cast<std::size_t>(inside_->dataset.rows.features);
}

const std::vector<std::string>& Rows::warnings() const {
  return inside_->warnings;
}

Rows read_csv(const std::filesystem::path& file, const Schema& schema) {
  std::vector<std::string> warnings;
  data::Options options;
  options.schema_text = schema.toml;
  options.schema = "the schema";
  options.format = data::FileFormat::csv;
  data::Dataset rows = data::load_file(options, file.string(), "a CSV file",
                                       {.warn = [&](const std::string& text) { warnings.push_back(text); }});
  return handle(std::move(rows), std::move(warnings), schema.not_public);
}

Rows read_libsvm(const std::filesystem::path& file, std::size_t features) {
  data::Options options;
  options.format = data::FileFormat::libsvm;
  options.features = static_cast<long>(features);
  return handle(data::load_file(options, file.string(), "a LIBSVM file"), {});
}

Rows rows_of(const DenseMatrix& x, std::span<const double> labels, const Schema& schema, const std::string& name) {
  data::EncodedNumbers encoded = data::encode_numbers(
      data::DenseNumbers{
          .first = x.first, .rows = x.rows, .columns = x.columns, .row_step = x.row_step, .column_step = x.column_step},
      labels, parsed(schema), name);
  return handle(std::move(encoded.dataset), std::move(encoded.warnings), schema.not_public);
}

Rows rows_of(const SparseMatrix& x, std::span<const double> labels, const Schema& schema, const std::string& name) {
  data::EncodedNumbers encoded = data::encode_numbers(
      data::SparseNumbers{.start = x.start, .column = x.column, .value = x.value, .columns = x.columns}, labels,
      parsed(schema), name);
  return handle(std::move(encoded.dataset), std::move(encoded.warnings), schema.not_public);
}

}  // namespace parley
