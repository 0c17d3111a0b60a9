#include "cli/shareable_options.h"

#include <nlohmann/json.hpp>

#include "parley/run/config.h"
#include "parley/study/study.h"

namespace parley::cli {

record::OptionRule shareable_options() {
  static run::TrainOptions train_options;  // the rows point into them
  static study::Study study_options;
  std::vector<Option> rows = run::option_rows(train_options);
  for (Option& row : study::option_rows(study_options))
    rows.push_back(std::move(row));  // what both have, they have in common
  return [rows](const std::string& name, const nlohmann::json& value) { return may_be_shown(rows, name, value); };
}

}  // namespace parley::cli
