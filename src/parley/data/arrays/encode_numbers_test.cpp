#include "parley/data/arrays/encode_numbers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/data/encode.h"

namespace parley::data {
namespace {

using ::testing::HasSubstr;

const std::vector<double> numbers = {0.1, 30, -2, 7.25, 12, 0, 1e-3, 99, 5, 0.5, 40, 2.5};  // four rows of three

Schema three_columns(Scale scale) {
  return schema_of({.names = {"a", "b", "c"},
                    .bounds = {{-1, 1}, {0, 60}, {-3, 3}},
                    .label = "y",
                    .classes = {"no", "yes"},
                    .scale = scale});
}

Table as_cells(const std::vector<double>& labels) {
  Table table{.source = "cells", .columns = {"a", "b", "c", "y"}, .cells = {}, .line = {}};
  for (std::size_t r = 0; r < 4; ++r) {
    std::vector<std::string> row;
    for (std::size_t c = 0; c < 3; ++c) row.push_back(number(numbers[3 * r + c]));
    row.emplace_back(labels[r] > 0 ? "yes" : "no");
    table.cells.push_back(row);
    table.line.push_back(r + 2);
  }
  return table;
}

void expect_same_bits(const Rows& a, const Rows& b) {
  EXPECT_EQ(a.start, b.start);
  EXPECT_EQ(a.column, b.column);
  EXPECT_EQ(a.value, b.value);
  EXPECT_EQ(a.label, b.label);
  EXPECT_EQ(a.features, b.features);
}

TEST(EncodeNumbers, GivesTheBitsOfTheSameCellsInAFile) {
  const std::vector<double> labels = {1, -1, -1, 1};
  for (const Scale scale : {Scale::clip, Scale::bound}) {
    const Schema schema = three_columns(scale);
    const Dataset cells = encode(as_cells(labels), schema, "cells");
    const EncodedNumbers rows = encode_numbers(
        DenseNumbers{.first = numbers.data(), .rows = 4, .columns = 3, .row_step = 3}, labels, schema, "x");
    expect_same_bits(rows.dataset.rows, cells.rows);
    EXPECT_EQ(rows.dataset.schema_toml, cells.schema_toml);
    EXPECT_EQ(rows.dataset.feature_names, cells.feature_names);
  }
}

TEST(EncodeNumbers, ReadsColumnsFirstAndPartsOfAMatrixWithoutACopy) {
  const std::vector<double> by_column = {0.1, 7.25, 1e-3, 0.5, 30, 12, 99, 40, -2, 0, 5, 2.5};
  const Schema schema = three_columns(Scale::clip);
  const auto rows =
      encode_numbers(DenseNumbers{.first = numbers.data(), .rows = 4, .columns = 3, .row_step = 3}, {}, schema, "x");
  const auto turned =
      encode_numbers(DenseNumbers{.first = by_column.data(), .rows = 4, .columns = 3, .row_step = 1, .column_step = 4},
                     {}, schema, "x");
  expect_same_bits(rows.dataset.rows, turned.dataset.rows);
  const auto second = encode_numbers(DenseNumbers{.first = numbers.data() + 3, .rows = 2, .columns = 3, .row_step = 6},
                                     {}, schema, "x");
  const std::vector<std::size_t> which = {1, 3};
  expect_same_bits(second.dataset.rows, rows.dataset.rows.select(which));
}

TEST(EncodeNumbers, OfSparseRowsGivesTheBitsOfDenseOnes) {
  const Schema schema = schema_of({.names = {"a", "b"}, .bounds = {{0, 2}, {0, 8}}, .classes = {"0", "1"}});
  const std::vector<double> dense = {0, 3, 1.5, 0, 0, 0};
  const std::vector<std::int64_t> start = {0, 1, 2, 2};
  const std::vector<std::int32_t> column = {1, 0};
  const std::vector<double> value = {3, 1.5};
  expect_same_bits(
      encode_numbers(SparseNumbers{.start = start, .column = column, .value = value, .columns = 2}, {}, schema, "x")
          .dataset.rows,
      encode_numbers(DenseNumbers{.first = dense.data(), .rows = 3, .columns = 2, .row_step = 2}, {}, schema, "x")
          .dataset.rows);
  EXPECT_THAT(
      [&] {
        encode_numbers(SparseNumbers{.start = start, .column = column, .value = value, .columns = 3}, {},
                       three_columns(Scale::clip), "x");
      },
      ::testing::ThrowsMessage<Error>(HasSubstr("0 would not stay 0")));
}

TEST(EncodeNumbers, CountsWhatLiesBeyondTheBoundsAndRefusesWhatIsNoNumber) {
  const Schema schema = three_columns(Scale::clip);
  const auto rows =
      encode_numbers(DenseNumbers{.first = numbers.data(), .rows = 4, .columns = 3, .row_step = 3}, {}, schema, "x");
  ASSERT_EQ(rows.warnings.size(), 3U);
  EXPECT_THAT(rows.warnings[1], HasSubstr("column 'b': 25 % of the cells lie beyond its bounds"));
  const std::vector<double> bad = {0, std::numeric_limits<double>::quiet_NaN(), 0};
  EXPECT_THAT([&] { encode_numbers(DenseNumbers{.first = bad.data(), .rows = 1, .columns = 3}, {}, schema, "x"); },
              ::testing::ThrowsMessage<Error>(HasSubstr("column 'b' has a value that is no finite number")));
  const std::vector<double> label = {0.5};
  EXPECT_THAT(
      [&] { encode_numbers(DenseNumbers{.first = numbers.data(), .rows = 1, .columns = 3}, label, schema, "x"); },
      ::testing::ThrowsMessage<Error>(HasSubstr("a label that the schema does not know")));
}

}  // namespace
}  // namespace parley::data
