#include <fmt/core.h>

#include <cstdio>
#include <filesystem>
#include <optional>

#include "cli/commands.h"
#include "cli/load_view.h"
#include "cli/model_and_rows.h"
#include "cli/terminal.h"
#include "parley/base/durable.h"
#include "parley/base/error.h"
#include "parley/data/libsvm.h"
#include "parley/data/read/bytes.h"
#include "parley/data/read/feature_reader.h"
#include "parley/run/quality/prediction.h"

namespace parley::cli {
namespace {

struct PredictOptions {
  ModelAndRows given;
  std::string out;
  run::Decision decision;
};

std::vector<Option> rows(PredictOptions& o) {
  std::vector<Option> rows = option_rows(o.given, "rows to predict");
  rows.insert(rows.end(), {{"out", "", "where the CSV goes; default: stdout", any_text("a file"), &o.out, "Options"},
                           {"threshold", "", "say the class where its probability lies above this; default 0.5",
                            any_text("a number"), &o.decision.threshold, "Options"},
                           {"class", "", "the probability of this class alone, and whether it is said",
                            any_text("a class"), &o.decision.of, "Options"}});
  return rows;
}

void check_out(const PredictOptions& o) {
  std::error_code unknown;
  for (const std::string* used : {&o.given.data, &o.given.model})
    if (!o.out.empty() && std::filesystem::equivalent(o.out, *used, unknown))
      throw Error({.what = "the predictions would overwrite a file that this command reads",
                   .value = o.out,
                   .where = "option --out",
                   .fix = "give another file"});
}

int run_predict(const Arguments& arguments) {
  PredictOptions o;
  set_from(arguments, rows(o));
  const run::Model model = read_model(arguments, o.given, "predict");
  run::check_decision(model, o.decision);
  check_out(o);
  std::optional<FileReplacement> file;
  std::size_t done = 0;
  const auto predict = [&](const data::Rows& encoded) {
    check_features(encoded, model, o.given);
    const std::string csv = run::prediction_csv(model, encoded, done, o.decision);
    if (done == 0)
      for (const auto& note : notes_on(model)) fmt::print(stderr, "note: {}\n", note);
    done += encoded.count();
    if (o.out.empty()) return fmt::print("{}", csv);
    if (!file) file.emplace(o.out);
    file->add(csv);
  };
  constexpr std::size_t some = 50'000;  // rows that are in memory at a time
  if (model.schema_toml.empty()) {
    data::LibsvmReader reader(o.given.data, static_cast<Index>(model.feature_names.size()));
    while (const auto rows = reader.next(some)) predict(*rows);
  } else {
    LoadView view(false);
    data::FeatureReader reader(data::open_bytes(o.given.data, o.given.csv.query),
                               data::parse_schema(model.schema_toml, o.given.model + " (schema)"), o.given.csv.layout(),
                               view.watch());
    while (const auto rows = reader.next(some)) predict(*rows);
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
