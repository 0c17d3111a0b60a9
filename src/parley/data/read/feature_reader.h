// Rows of a CSV source as features without labels, some at a time: memory follows these, not the file.
#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include "parley/data/dataset.h"
#include "parley/data/encode.h"
#include "parley/data/read/bytes.h"
#include "parley/data/read/load_csv.h"
#include "parley/data/schema.h"
#include "parley/data/table.h"

namespace parley::data {

class FeatureReader {
 public:
  FeatureReader(Bytes bytes, Schema schema, const CsvLayout& layout, Watch watch = {});
  // The next rows, at least one; nullopt: there are no more, and the watch knows which cells were clipped.
  std::optional<Rows> next(std::size_t most_rows);

 private:
  std::string name_;
  Schema schema_;
  bool delimiter_given_;
  Watch watch_;
  CsvReader reader_;
  std::optional<RowEncoder> encoder_{};
  RowEncoder::Scratch scratch_{};
  std::size_t rows_ = 0;
};

}  // namespace parley::data
