// Results of algorithms that are not parley's, from a CSV file, to stand beside a comparison. Nothing of them is checked: neither
// that they were measured on the same rows, nor their ε.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "parley/run/compare.h"

namespace parley::run {

// What the file must agree with.
struct OutsideSetting {
  std::vector<double> budgets;
  double delta = 0;  // the largest that a result may have
  long split_seed = 0;
  bool classifies = true;  // then an error is a share of the test rows
};

// Columns: algorithm, epsilon, test_error; may have: delta (0 where it has none), split (the split seed), run, note. One line
// per run. Error, with file and line: another column, a number that is none or not in its range, an ε that is not among the
// budgets, a larger δ, another split, the same run twice.
std::vector<OutsideResult> read_outside_results(const std::filesystem::path& file, const OutsideSetting& setting);

std::vector<std::string> outside_names(const std::vector<OutsideResult>& results);  // each once, in order

inline constexpr std::string_view not_checked = "not checked by parley: neither the rows nor the epsilon";

}  // namespace parley::run
