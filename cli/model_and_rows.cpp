#include "cli/model_and_rows.h"

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/data/read/bytes.h"
#include "parley/run/quality/prediction.h"

namespace parley::cli {
namespace {

// LIBSVM rows come from a file, whose fields are always separated by blanks.
void refuse_csv_options(const ModelAndRows& o) {
  const bool file = o.data != "-" && !data::is_database(o.data);
  if (file && o.csv.delimiter == "auto") return;
  throw Error({.what = "this model was trained on LIBSVM rows, which have neither columns nor a schema",
               .value = file ? "--delimiter " + o.csv.delimiter : "--data " + o.data,
               .allowed = "a file of LIBSVM rows",
               .where = file ? "option --delimiter" : "option --data",
               .fix = file ? "leave it out" : "put the rows into such a file"});
}

}  // namespace

std::vector<Option> option_rows(ModelAndRows& o, const std::string& which) {
  std::vector<Option> rows = {
      {"model", "", "model.json of a run", any_text("a file"), &o.model, "Options"},
      {"data", "",
       which + ": CSV in the model's schema (.csv, .csv.gz, - for standard input, postgresql://...), or LIBSVM",
       any_text("a file"), &o.data, "Options"}};
  for (const Option& row : data::option_rows(o.csv, "Options")) rows.push_back(row);
  return rows;
}

run::Model read_model(const Arguments& arguments, const ModelAndRows& o, const std::string& command) {
  for (const auto* name : {"model", "data"})
    if (!arguments.has(name))
      throw Error({.what = std::string("--") + name + " is missing",
                   .where = "parley " + command,
                   .fix = "parley " + command + " --model DIR/model.json --data FILE"});
  data::check_query_used(o.csv, {o.data});
  run::Model model = run::read_model(o.model);
  data::check_there(o.data, "option --data");
  if (model.schema_toml.empty()) refuse_csv_options(o);
  return model;
}

void check_features(const data::Rows& rows, const run::Model& model, const ModelAndRows& o) {
  const auto features = static_cast<Index>(model.feature_names.size());
  if (rows.features == features) return;
  throw Error(
      {.what = "the rows have " + std::to_string(rows.features) + " features, the model " + std::to_string(features),
       .where = o.data,
       .fix = "give rows in the format of the training data"});
}

std::vector<std::string> notes_on(const run::Model& model) {
  std::vector<std::string> notes;
  if (model.outcome != "completed") notes.push_back("this model comes from a run that was " + model.outcome);
  if (!model.not_private.empty()) notes.push_back("this model is NOT PRIVATE: " + join(model.not_private, "; "));
  if (const std::string note = run::note_on_probabilities(model); !note.empty()) notes.push_back(note);
  return notes;
}

}  // namespace parley::cli
