// What predict and evaluate have in common: a model, and rows for it.
#pragma once
#include <string>
#include <vector>

#include "cli/command_line/command_line.h"
#include "parley/data/read/csv_options.h"
#include "parley/run/quality/prediction.h"

namespace parley::cli {

struct ModelAndRows {
  std::string model, data;
  data::CsvOptions csv;
};
// which: "rows to predict"
std::vector<Option> option_rows(ModelAndRows& o, const std::string& which);

// Error: one of the two is not given or not there, or an option would not be used.
run::Model read_model(const Arguments& arguments, const ModelAndRows& o, const std::string& command);

// Error: the rows have another number of features than the model.
void check_features(const data::Rows& rows, const run::Model& model, const ModelAndRows& o);

// What whoever uses the model should know of the run that it comes from.
std::vector<std::string> notes_on(const run::Model& model);

}  // namespace parley::cli
