#include "cli/exports/outside_table.h"

#include <fmt/format.h>

#include "parley/base/error.h"
#include "parley/base/text.h"

namespace parley::cli {

// Before the first run: a file that is wrong must not cost the hours of a comparison.
std::vector<run::OutsideResult> outside_of(const std::string& file, const run::TrainOptions& train,
                                           const std::vector<double>& budgets) {
  if (file.empty()) return {};
  if (train.data.test_share == 0 && train.data.test_data.empty())
    throw Error({.what = "results of other programs stand beside test errors, and no rows are held out",
                 .where = "option --with",
                 .fix = "set --test-share or --test-data, or leave it out"});
  const problem::LossKind loss = train.algorithm.loss;
  return run::read_outside_results(file, {.budgets = budgets,
                                          .delta = train.algorithm.delta.value_or(0),
                                          .split_seed = train.data.split_seed,
                                          .classifies = problem::Loss{.kind = loss}.classifies()});
}

// For the page: every cell a text.
std::vector<std::vector<std::string>> outside_table(const run::Comparison& c) {
  std::vector<std::vector<std::string>> rows;
  if (c.outside.empty()) return rows;
  rows.push_back({"algorithm, of another program", "ε", "δ", "runs", "test error", "lowest", "highest"});
  for (const run::OutsideResult& r : c.outside)
    rows.push_back({r.algorithm, number(r.epsilon), number(r.delta), std::to_string(r.runs),
                    fmt::format("{:.4g}", r.test_error.mean), fmt::format("{:.4g}", r.test_error.low),
                    fmt::format("{:.4g}", r.test_error.high)});
  return rows;
}

}  // namespace parley::cli
