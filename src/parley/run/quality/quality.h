// The quality of a model on held-out rows, over all ranks and as JSON: the keys that train, evaluate and join share.
// Privacy: measured on rows. It stands under "private" in a record, on the owner's terminal, and nowhere else (R10).
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parley/network/ranks.h"
#include "parley/problem/quality.h"

namespace parley::run {

// What the schema says of the label; empty: LIBSVM.
problem::Unit unit_of(const std::string& schema_toml);
problem::Measure measure_of(const std::string& schema_toml);  // rows of a schema; empty: there is none
std::vector<std::string> class_names(const std::string& schema_toml, const std::vector<std::string>& classes);

// The held-out rows of all ranks in the order of ranks; nullopt where there are none.
std::optional<problem::Scored> scored_by_all(const data::Rows& test, const problem::Loss& loss, const Vector& f,
                                             network::Ranks& ranks);

// test_rows, baseline_error, verdict, verdict_tests; of classes auc, balanced_error, baseline_balanced_error, f1,
// log_loss, brier, calibration, confusion, roc (of two classes); of a number mae, rmse, baseline_rmse and r_squared, all in its own unit. What
// a loss does not have is null.
nlohmann::json to_json(const problem::Quality& quality, const std::vector<std::string>& classes);

// The same of a model on rows that it is given later: `parley evaluate --json`.
nlohmann::json evaluation_json(const problem::Quality& quality, const std::vector<std::string>& classes,
                               const std::vector<std::string>& model_not_private);

// The confusion matrix in words, a line a class.
std::vector<std::pair<std::string, std::string>> class_lines(const problem::Quality& quality,
                                                             const std::vector<std::string>& classes);

}  // namespace parley::run
