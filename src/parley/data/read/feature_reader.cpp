#include "parley/data/read/feature_reader.h"

#include <string_view>
#include <utility>
#include <vector>

#include "parley/data/read/columns.h"
#include "parley/data/read/delimiter.h"

namespace parley::data {

FeatureReader::FeatureReader(Bytes bytes, Schema schema, const CsvLayout& layout, Watch watch)
    : name_(bytes.name),
      schema_(std::move(schema)),
      delimiter_given_(layout.delimiter != 0),
      watch_(std::move(watch)),
      reader_(std::move(bytes), layout) {}

std::optional<Rows> FeatureReader::next(std::size_t most_rows) {
  const std::optional<Table> table = reader_.next(most_rows);
  if (!table) {
    if (watch_.warn && encoder_)
      for (const std::string& text : encoder_->clipped_in_words(scratch_.clipped, rows_))
        watch_.warn(name_ + ", " + text);
    return std::nullopt;
  }
  if (!encoder_) {
    if (!delimiter_given_ && watch_.note)
      if (const std::string note = found_delimiter_note(name_, reader_.delimiter()); !note.empty()) watch_.note(note);
    check_columns(table->columns, table->source, schema_, false);
    encoder_.emplace(RowEncoder::Known{}, table->columns, table->source, schema_, false);
  }
  Rows rows;
  rows.features = encoder_->features();
  std::vector<std::string_view> cells;
  for (std::size_t n = 0; n < table->cells.size(); ++n) {
    cells.assign(table->cells[n].begin(), table->cells[n].end());
    encoder_->encode(cells, {&table->source, table->line.at(n)}, rows, scratch_);
  }
  rows_ += rows.count();
  return rows;
}

}  // namespace parley::data
