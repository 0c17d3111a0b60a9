// Numbers in memory → encoded rows, by a public schema whose columns are numbers: what RowEncoder does with the cells of a
// file, with the same bits. Privacy: as encode.h; ‖x‖₂ ≤ 1 holds exactly.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "parley/data/dataset.h"
#include "parley/data/schema.h"

namespace parley::data {

// Row r, column c at first[r·row_step + c·column_step]: either order, and parts of a larger matrix, without a copy.
struct DenseNumbers {
  const double* first = nullptr;
  std::size_t rows = 0, columns = 0;
  std::ptrdiff_t row_step = 0, column_step = 1;
};
// Row r has the entries start[r] … start[r+1]−1, its columns in increasing order; what is not there is 0.
struct SparseNumbers {
  std::span<const std::int64_t> start;
  std::span<const std::int32_t> column;
  std::span<const double> value;
  std::size_t columns = 0;
};

struct EncodedNumbers {
  Dataset dataset;
  std::vector<std::string>
      warnings{};  // columns with numbers beyond their bounds. Privacy: counted on rows; the owner's
};

// labels: −1 or +1, the number of a class, or a target in its own unit, as the schema's label says; none: rows to
// predict, whose label is 0. Columns in the order of the schema, those that it drops left out. Error: a column that is
// no number, a number that is not finite, a label that is none of the schema's, sparse rows where 0 does not stay 0.
EncodedNumbers encode_numbers(const DenseNumbers& x, std::span<const double> labels, const Schema& schema,
                              const std::string& name);
EncodedNumbers encode_numbers(const SparseNumbers& x, std::span<const double> labels, const Schema& schema,
                              const std::string& name);

// The schema of columns of numbers with these bounds. The label is in column `label`: two classes (the second is the
// positive one), more, or a number with bounds.
struct NumericColumns {
  std::vector<std::string> names;
  std::vector<Bounds> bounds;
  std::string label = "label";
  std::vector<std::string> classes{};  // none: target
  Bounds target{};
  bool intercept = true;
  Scale scale = Scale::clip;
  bool softmax = false;  // two classes by their numbers too
};
Schema schema_of(const NumericColumns& columns);

}  // namespace parley::data
