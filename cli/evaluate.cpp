// A model on rows whose label is known. Privacy: everything here is measured on rows; terminal and page are the owner's.
#include <fmt/core.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/load_view.h"
#include "cli/model_and_rows.h"
#include "cli/terminal.h"
#include "parley/base/error.h"
#include "parley/base/printed.h"
#include "parley/base/text.h"
#include "parley/data/libsvm.h"
#include "parley/data/read/bytes.h"
#include "parley/data/read/load_csv.h"
#include "parley/report/quality_page.h"
#include "parley/report/report.h"
#include "parley/run/quality/prediction.h"
#include "parley/run/quality/quality.h"

namespace parley::cli {
namespace {

struct EvaluateOptions {
  ModelAndRows given;
  std::string out;
  run::Decision decision;
};

std::vector<Option> rows(EvaluateOptions& o) {
  std::vector<Option> rows = option_rows(o.given, "rows with their label that the model has not seen");
  rows.insert(rows.end(),
              {{"out", "", "also a page with ROC and calibration, for the owner of the rows", any_text("a file"),
                &o.out, "Options"},
               {"threshold", "", "two classes: say the positive one where its probability lies above this; default 0.5",
                any_text("a number"), &o.decision.threshold, "Options"}});
  return rows;
}

data::Rows labelled_rows(const ModelAndRows& given, const run::Model& model) {
  if (model.schema_toml.empty()) return data::read_libsvm(given.data, static_cast<Index>(model.feature_names.size()));
  LoadView view(false);
  const data::Schema schema = data::without_persons(data::parse_schema(model.schema_toml, given.model + " (schema)"));
  return data::load_csv(data::open_bytes(given.data, given.csv.query), schema,
                        {.layout = given.csv.layout(), .watch = view.watch()})
      .rows;
}

std::vector<std::vector<std::string>> figures(const problem::Quality& q) {
  std::vector<std::vector<std::string>> rows = {
      {"", "this model", q.mae ? "always the mean" : "always the larger class"}};
  const auto add = [&](const std::string& name, const std::optional<double>& value, const std::string& guess,
                       auto text) {
    if (value) rows.push_back({name, text(*value), guess});
  };
  const auto digits = [](double x) { return fmt::format("{:.4g}", x); };
  const auto three = [](double x) { return fixed(x, 3); };
  const auto four = [](double x) { return fixed(x, 4); };
  if (q.mae) {
    add("root mean square error", q.error, digits(q.baseline_error), digits);
    add("mean absolute error", q.mae, "-", digits);
    add("R²", q.r_squared, "0", four);
    return rows;
  }
  const std::string mean = q.confusion.size() > 2 ? ", mean over classes" : "";
  add("error", q.error, percent(q.baseline_error), percent);
  add("balanced error", q.balanced_error, percent(q.baseline_balanced_error.value_or(0)), percent);
  add("AUC" + mean, q.auc, "0.500", three);
  add("F1" + mean, q.f1, "-", three);
  add("log loss", q.log_loss, "-", four);
  add("Brier score", q.brier, "-", four);
  return rows;
}

report::Figure roc_of(const problem::Quality& q) {
  report::Roc roc;
  for (const problem::RocPoint& p : q.roc) {
    roc.false_alarms.push_back(p.false_alarms);
    roc.found.push_back(p.found);
  }
  return report::roc_figure({{"this model", roc}});
}

report::Figure calibration_of(const problem::Quality& q) {
  std::vector<report::CalibrationBin> bins;
  for (const problem::Bin& b : q.calibration)
    if (b.rows > 0)
      bins.push_back({.rows = static_cast<double>(b.rows), .predicted = b.predicted, .observed = b.observed});
  return report::calibration_figure({{"this model", bins}});
}

// Of each bin that has rows: what was predicted, and how often it was true.
std::vector<std::vector<std::string>> calibration_table(const problem::Quality& q) {
  std::vector<std::vector<std::string>> rows = {{"predicted probability", "rows", "mean prediction", "true"}};
  for (const problem::Bin& b : q.calibration)
    if (b.rows > 0)
      rows.push_back({fmt::format("{:.1f} to {:.1f}", b.low, b.high), grouped(static_cast<long>(b.rows)),
                      fixed(b.predicted, 3), fixed(b.observed, 3)});
  return rows;
}

std::vector<std::vector<std::string>> confusion(const problem::Quality& q, const std::vector<std::string>& classes) {
  std::vector<std::vector<std::string>> rows;
  if (q.confusion.empty()) return rows;
  rows.push_back({"class"});
  for (const auto& name : classes) rows[0].push_back("said: " + name);
  for (std::size_t c = 0; c < q.confusion.size(); ++c) {
    rows.push_back({classes[c]});
    for (const std::size_t n : q.confusion[c]) rows.back().push_back(grouped(static_cast<long>(n)));
  }
  return rows;
}

void write_page(const EvaluateOptions& o, const run::Model& model, const problem::Quality& q,
                const std::vector<std::string>& classes) {
  report::QualityPage page{.title = "How good the model is on these rows",
                           .verdict = q.verdict.text,
                           .good = !q.verdict.no_better,
                           .notes = notes_on(model),
                           .figures = figures(q),
                           .confusion = confusion(q, classes),
                           .charts = {},
                           .version = PARLEY_VERSION};
  if (!q.roc.empty()) page.charts.push_back(roc_of(q));
  if (!q.calibration.empty()) page.charts.push_back(calibration_of(q));
  ::umask(077);
  write_file(o.out, report::quality_page(page));
}

int run_evaluate(const Arguments& arguments) {
  EvaluateOptions o;
  set_from(arguments, rows(o));
  std::error_code code;
  if (!o.out.empty() && std::filesystem::exists(o.out, code) && !report::is_report(o.out))
    throw Error({.what = "the file exists and is not a report of parley",
                 .where = o.out,
                 .fix = "choose another --out, or remove it"});
  const run::Model model = read_model(arguments, o.given, "evaluate");
  run::check_decision(model, o.decision);
  const data::Rows test = labelled_rows(o.given, model);
  check_features(test, model, o.given);
  const problem::Scored s = problem::scored(test, model.loss, model.weights);
  problem::Measure how = run::measure_of(model.schema_toml);
  how.threshold = run::score_threshold(model, o.decision);
  const problem::Quality q = problem::quality(s, how);
  const auto classes = run::class_names(model.schema_toml, model.classes);
  if (!o.out.empty()) write_page(o, model, q, classes);
  if (arguments.has("json")) {
    fmt::print("{}\n", run::evaluation_json(q, classes, model.not_private).dump());
    return 0;
  }
  for (const auto& note : notes_on(model)) fmt::print(stderr, "note: {}\n", note);
  fmt::print("\n{} on {} rows of {}\n{}", bold("Quality"), grouped(static_cast<long>(q.rows)),
             o.given.data == "-" ? "standard input" : o.given.data, table(figures(q)));
  for (const auto& [what, text] : run::class_lines(q, classes)) fmt::print("  {}: {}\n", what, text);
  if (!q.calibration.empty()) fmt::print("\n{}\n{}\n", bold("Calibration"), table(calibration_table(q)));
  fmt::print("  Verdict: {}\n", q.verdict.no_better ? alarm(q.verdict.text) : q.verdict.text);
  fmt::print("\n  These figures are measured on rows, and no budget paid for them: keep them with the rows.\n");
  if (!o.out.empty()) fmt::print("Report: {} (private)\n", o.out);
  return 0;
}

}  // namespace

Command evaluate_command() {
  static EvaluateOptions defaults;
  return {.name = "evaluate",
          .summary = "measure a model on rows whose label is known, beside what guessing reaches",
          .own = rows(defaults),
          .flags = {"json"},
          .examples =
              "  parley evaluate --model runs/demo/model.json --data test.csv\n"
              "  parley evaluate --model runs/demo/model.json --data test.csv --json\n"
              "  parley evaluate --model runs/demo/model.json --data test.csv --threshold 0.2 --out quality.html\n",
          .run = run_evaluate};
}

}  // namespace parley::cli
