#include <fmt/core.h>

#include <cmath>
#include <cstdio>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/data/encode.h"
#include "parley/data/libsvm.h"
#include "parley/problem/objective.h"
#include "parley/run/model.h"

namespace parley::cli {
namespace {

struct PredictOptions {
  std::string model, data, out;
  bool header = true;
};

std::vector<Option> rows(PredictOptions& o) {
  return {{"model", "", "model.json of a run", any_text("a file"), &o.model, "Options"},
          {"data", "", "rows to predict: CSV in the model's schema, or LIBSVM", any_text("a file"), &o.data, "Options"},
          {"out", "", "where the CSV goes; default: stdout", any_text("a file"), &o.out, "Options"},
          {"header", "", "whether the first line of a CSV file names its columns", any_text("yes, no"), &o.header,
           "Options"}};
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
  data::Rows encoded;
  data::Schema schema;
  if (model.schema_toml.empty()) {
    encoded = data::read_libsvm(o.data, model.weights.size());
  } else {
    schema = data::parse_schema(model.schema_toml, o.model + " (schema)");
    encoded = data::encode_features(data::read_csv(o.data, {.header = o.header}), schema);
  }
  if (encoded.features != model.weights.size())
    throw Error({.what = "the rows have " + std::to_string(encoded.features) + " features, the model " +
                         std::to_string(model.weights.size()),
                 .where = o.data,
                 .fix = "give rows in the format of the training data"});
  std::string csv;
  if (!model.loss.classifies()) {
    csv = "row,prediction\n";
    const data::Bounds b = schema.label.bounds.value_or(data::Bounds{.low = -1, .high = 1});
    for (std::size_t n = 0; n < encoded.count(); ++n)
      csv += fmt::format("{},{}\n", n + 1,
                         number(b.low + (problem::score(encoded, n, model.weights) + 1) / 2 * (b.high - b.low)));
  } else {
    const bool probabilities = model.loss.kind == problem::LossKind::logistic;  // the hinge's score is no probability
    csv = probabilities ? "row,probability,prediction\n" : "row,score,prediction\n";
    for (std::size_t n = 0; n < encoded.count(); ++n) {
      const double s = problem::score(encoded, n, model.weights);
      const std::string label = schema.label.positive.empty()
                                    ? (s > 0 ? "1" : "-1")
                                    : (s > 0 ? schema.label.positive[0] : schema.label.negative[0]);
      csv += fmt::format("{},{},{}\n", n + 1, number(probabilities ? 1 / (1 + std::exp(-s)) : s), label);
    }
  }
  if (model.outcome != "completed")
    fmt::print(stderr, "note: this model comes from a run that was {}\n", model.outcome);
  if (!model.not_private.empty())
    fmt::print(stderr, "note: this model is NOT PRIVATE: {}\n", join(model.not_private, "; "));
  if (o.out.empty())
    fmt::print("{}", csv);
  else
    write_file(o.out, csv);
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
              "  parley predict --model runs/demo/model.json --data new.csv --out predicted.csv\n",
          .run = run_predict};
}

}  // namespace parley::cli
