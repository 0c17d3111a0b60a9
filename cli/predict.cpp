#include <fmt/core.h>

#include <cstdio>
#include <filesystem>
#include <optional>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/data/encode.h"
#include "parley/data/libsvm.h"
#include "parley/data/read/delimiter.h"
#include "parley/run/quality/prediction.h"

namespace parley::cli {
namespace {

struct PredictOptions {
  std::string model, data, out, delimiter = "auto", query;
  bool header = true;
  run::Decision decision;
};

std::vector<Option> rows(PredictOptions& o) {
  return {{"model", "", "model.json of a run", any_text("a file"), &o.model, "Options"},
          {"data", "", "rows to predict: CSV in the model's schema (- : standard input; postgresql://...), or LIBSVM",
           any_text("a file"), &o.data, "Options"},
          {"out", "", "where the CSV goes; default: stdout", any_text("a file"), &o.out, "Options"},
          {"header", "", "whether the first line of a CSV file names its columns", any_text("yes, no"), &o.header,
           "Options"},
          {"threshold", "", "say the class where its probability lies above this; default 0.5", any_text("a number"),
           &o.decision.threshold, "Options"},
          {"class", "", "the probability of this class alone, and whether it is said", any_text("a class"),
           &o.decision.of, "Options"},
          {"delimiter", "", "what separates the fields of a CSV file; auto: found from its header line",
           any_text("auto, comma, semicolon, tab, pipe, or one character"), &o.delimiter, "Options"},
          {"query", "",
           "the rows to take from --data postgresql://user@host/database: SELECT columns FROM table WHERE conditions",
           any_text("a query in SQL"), &o.query, "Options"}};
}

void print_notes(const run::Model& model) {
  if (model.outcome != "completed")
    fmt::print(stderr, "note: this model comes from a run that was {}\n", model.outcome);
  if (!model.not_private.empty())
    fmt::print(stderr, "note: this model is NOT PRIVATE: {}\n", join(model.not_private, "; "));
  if (const std::string note = run::note_on_probabilities(model); !note.empty()) fmt::print(stderr, "note: {}\n", note);
}

int run_predict(const Arguments& arguments) {
  PredictOptions o;
  set_from(arguments, rows(o));
  for (const auto* name : {"model", "data"})
    if (!arguments.has(name))
      throw Error({.what = std::string("--") + name + " is missing",
                   .where = "parley predict",
                   .fix = "parley predict --model DIR/model.json --data FILE"});
  const run::Model model = run::read_model(o.model);
  run::check_decision(model, o.decision);
  const auto features = static_cast<Index>(model.feature_names.size());
  std::optional<FileReplacement> file;
  std::error_code unknown;
  for (const std::string* used : {&o.data, &o.model})
    if (!o.out.empty() && std::filesystem::equivalent(o.out, *used, unknown))
      throw Error({.what = "the predictions would overwrite a file that this command reads",
                   .value = o.out,
                   .where = "option --out",
                   .fix = "give another file"});
  std::size_t done = 0;
  const auto predict = [&](const data::Rows& encoded) {
    if (encoded.features != features)
      throw Error({.what = "the rows have " + std::to_string(encoded.features) + " features, the model " +
                           std::to_string(features),
                   .where = o.data,
                   .fix = "give rows in the format of the training data"});
    const std::string csv = run::prediction_csv(model, encoded, done, o.decision);
    if (done == 0) print_notes(model);
    done += encoded.count();
    if (o.out.empty()) return fmt::print("{}", csv);
    if (!file) file.emplace(o.out);
    file->add(csv);
  };
  constexpr std::size_t some = 50'000;  // rows that are in memory at a time
  if (model.schema_toml.empty()) {
    data::LibsvmReader reader(o.data, features);
    while (const auto rows = reader.next(some)) predict(*rows);
  } else {
    const data::Schema schema = data::parse_schema(model.schema_toml, o.model + " (schema)");
    data::CsvReader reader(data::open_bytes(o.data, o.query),
                           {.header = o.header, .delimiter = data::delimiter_of(o.delimiter)});
    while (const auto table = reader.next(some)) predict(data::encode_features(*table, schema));
  }
  if (file) file->done();
  return 0;
}

}  // namespace

Command predict_command() {
  static PredictOptions defaults;
  return {.name = "predict",
          .summary = "apply a model to rows",
          .own = rows(defaults),
          .examples =
              "  parley predict --model runs/demo/model.json --data new.csv\n"
              "  parley predict --model runs/demo/model.json --data new.csv --out predicted.csv\n"
              "  parley predict --model runs/demo/model.json --data new.csv --class yes --threshold 0.2\n",
          .run = run_predict};
}

}  // namespace parley::cli
