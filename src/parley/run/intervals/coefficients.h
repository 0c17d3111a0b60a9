// The table of coefficients of a run with --intervals: what the final round says (newton_final.h), in the columns' own
// units. Privacy: a function of released values, the schema and the plan.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "parley/algorithm/newton/newton_final.h"
#include "parley/algorithm/options.h"
#include "parley/algorithm/schedule.h"
#include "parley/data/schema.h"

namespace parley::run {

struct Coefficient {
  std::string name;  // of the column, "column=category" against its reference, "(intercept)"
  double estimate = 0, standard_error = 0, sampling_error = 0, low = 0, high = 0, p_value = 1;
  bool identified = false;  // false: the numbers say nothing
};

// Error where intervals are asked for and features are not linear in the record. schema_toml: "" of none.
void check_intervals(const algorithm::Options& options, const std::string& schema_toml);

// Of a numeric column: per unit of the number, or of its logarithm or root. Logistic loss: log-odds of the positive
// label; squared loss: units of the label.
std::vector<Coefficient> coefficients(const algorithm::newton::Estimate& estimate, const data::Schema& schema);

std::string assumptions_of_intervals(const algorithm::Plan& plan);
nlohmann::json to_json(const std::vector<Coefficient>& coefficients);  // null where not identified
// Numbers without a guarantee are stamped in every line: this file is what people copy elsewhere.
std::string coefficients_csv(const std::vector<Coefficient>& coefficients, bool is_private);
std::vector<std::vector<std::string>> coefficients_table(const nlohmann::json& coefficients);  // for people

inline constexpr auto coefficients_file = "coefficients.csv";

}  // namespace parley::run
