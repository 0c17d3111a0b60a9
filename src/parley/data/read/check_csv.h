// A CSV file against a schema: everything that load_csv would refuse, not only the first.
// Privacy: reads rows and quotes cells; what comes out is for the owner of the rows alone.
#pragma once
#include <string>
#include <vector>

#include "parley/base/error.h"
#include "parley/data/read/bytes.h"
#include "parley/data/read/csv_layout.h"
#include "parley/data/row_sum.h"
#include "parley/data/schema.h"

namespace parley::data {

struct Problem {
  Error::Fields fields;   // where: the first place
  std::string column;     // empty: of a row, or of the file
  std::size_t times = 1;  // the same mistake with the same value
};

struct CheckedColumn {
  std::string name, kind;
  std::size_t missing = 0, outside = 0, unlisted = 0, problems = 0;  // cells
};

struct CheckedFile {
  std::string name;
  std::size_t rows = 0;
  std::size_t problems = 0;       // in all
  std::vector<Problem> listed{};  // different ones, in the order of the file; at most most_listed
  std::vector<CheckedColumn> columns{};
  std::size_t persons = 0;  // where the schema names a person column
  std::size_t persons_with_extra_rows = 0, extra_rows = 0;
  std::size_t persons_spelt_alike = 0;      // texts that differ from another one only in capital letters or blanks
  std::vector<std::size_t> extra_lines{};   // of the first extra rows
  std::vector<std::string> person_texts{};  // by first appearance
  RowSum sum{};                             // of the rows without a problem, as train has them
  std::string note{};                       // what was assumed about the file
  bool whole = true;                        // false: reading stopped at the last problem

  static constexpr std::size_t most_listed = 10'000, most_extra_lines = 5;
};

CheckedFile check_csv(Bytes bytes, const Schema& schema, const CsvLayout& layout);

}  // namespace parley::data
