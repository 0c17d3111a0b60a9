// What `parley compare --with` puts beside its own results.
#pragma once
#include <string>
#include <vector>

#include "parley/run/export/outside_results.h"

namespace parley::cli {

// Before the first run: a file that is wrong must not cost the hours of a comparison. file: "" for none.
std::vector<run::OutsideResult> outside_of(const std::string& file, const run::TrainOptions& train,
                                           const std::vector<double>& budgets);

// For the page: every cell a text; empty where there are none.
std::vector<std::vector<std::string>> outside_table(const run::Comparison& comparison);

}  // namespace parley::cli
