#include "parley/run/quality/prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "parley/base/csv.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/data/schema.h"
#include "parley/problem/objective.h"
#include "parley/problem/softmax.h"

namespace parley::run {
namespace {

using problem::LossKind;

data::Label label_of(const Model& model) {
  return model.schema_toml.empty() ? data::Label{} : data::parse_schema(model.schema_toml, "the model's schema").label;
}

// The words that mean each class; the first is the one that is printed.
std::vector<std::vector<std::string>> class_words(const Model& model) {
  if (!model.loss.classifies()) return {};
  const data::Label label = label_of(model);
  std::vector<std::vector<std::string>> words;
  if (model.loss.kind == LossKind::softmax) {
    for (const auto& name : model.classes.empty() ? label.classes : model.classes) words.push_back({name});
    return words;
  }
  words.push_back(label.negative.empty() ? std::vector<std::string>{"-1"} : label.negative);
  words.push_back(label.positive.empty() ? std::vector<std::string>{"1"} : label.positive);
  return words;
}

std::optional<std::size_t> class_named(const Model& model, const std::string& name) {
  const auto words = class_words(model);
  for (std::size_t c = 0; c < words.size(); ++c)
    if (std::ranges::find(words[c], name) != words[c].end()) return c;
  return std::nullopt;
}

double logistic(double score) {
  return 1 / (1 + std::exp(-score));
}

double in_own_unit(double score, const data::Bounds& b) {
  return b.low + (score + 1) / 2 * (b.high - b.low);
}

// Predictions of a model that is not private are not private either, and say so in every line, as compare.csv does.
std::string header(const Model& model, const std::string& columns) {
  return columns + (model.not_private.empty() ? "\n" : ",not_private\n");
}
std::string line_end(const Model& model) {
  return model.not_private.empty() ? "\n" : "," + csv_cell(join(model.not_private, "; ")) + "\n";
}

// One class of several, or both of two, as "row,probability,prediction".
std::string one_class_csv(const Model& model, const data::Rows& rows, std::size_t before, const Decision& decision) {
  const auto words = class_words(model);
  const std::size_t c = *class_named(model, decision.of);
  const std::string yes = csv_cell(words[c][0]), no = words.size() == 2 ? csv_cell(words[1 - c][0]) : "other";
  std::string csv = before == 0 ? header(model, "row,probability,prediction") : "";
  const std::string end = line_end(model);
  std::vector<double> p(words.size());
  for (std::size_t n = 0; n < rows.count(); ++n) {
    if (model.loss.kind == LossKind::softmax) {
      for (std::size_t k = 0; k < p.size(); ++k)
        p[k] = problem::score(rows, n, model.weights.data() + static_cast<Index>(k) * rows.features);
      problem::softmax(p, 0);
    } else {
      const double s = problem::score(rows, n, model.weights);
      p = {logistic(-s), logistic(s)};
    }
    csv += fmt::format("{},{},{}{}", before + n + 1, number(p[c]), p[c] > decision.threshold.value_or(0.5) ? yes : no,
                       end);
  }
  return csv;
}

std::string class_csv(const Model& model, const data::Rows& rows, std::size_t before) {
  const auto words = class_words(model);
  const std::string end = line_end(model);
  std::string csv;
  if (before == 0) {
    csv = "row";
    for (const auto& word : words) csv += "," + csv_cell("probability[" + word[0] + "]");
    csv = header(model, csv + ",prediction");
  }
  std::vector<double> p(words.size());
  for (std::size_t n = 0; n < rows.count(); ++n) {
    for (std::size_t c = 0; c < p.size(); ++c)
      p[c] = problem::score(rows, n, model.weights.data() + static_cast<Index>(c) * rows.features);
    problem::softmax(p, 0);
    csv += std::to_string(before + n + 1);
    for (const double x : p) csv += "," + number(x);
    csv += "," + csv_cell(words[problem::softmax_class(rows, n, model.weights, words.size())][0]) + end;
  }
  return csv;
}

}  // namespace

void check_decision(const Model& model, const Decision& d) {
  const bool probabilities = model.loss.kind == LossKind::logistic || model.loss.kind == LossKind::softmax;
  const std::string loss = problem::name_of(model.loss);
  if (!d.of.empty() && !probabilities)
    throw Error({.what = "this model has no probability of a class",
                 .value = "loss " + loss,
                 .where = "option --class",
                 .fix = "leave it out, or train with --loss logistic"});
  if (!d.of.empty() && !class_named(model, d.of)) {
    std::vector<std::string> known;
    for (const auto& words : class_words(model)) known.insert(known.end(), words.begin(), words.end());
    throw Error({.what = "the model has no such class",
                 .value = d.of,
                 .allowed = join(known, ", "),
                 .where = "option --class",
                 .fix = "give one of its classes"});
  }
  if (!d.threshold) return;
  if (!model.loss.classifies() || (model.loss.kind == LossKind::softmax && d.of.empty()))
    throw Error({.what = model.loss.classifies() ? "a threshold is for the probability of one class"
                                                 : "a threshold is for classes, and this model predicts a number",
                 .value = number(*d.threshold),
                 .where = "option --threshold",
                 .fix = model.loss.classifies() ? "give --class NAME with it" : "leave it out"});
  if (probabilities && !(*d.threshold > 0 && *d.threshold < 1))
    throw Error({.what = "a threshold on a probability",
                 .value = number(*d.threshold),
                 .allowed = "> 0 and < 1",
                 .where = "option --threshold",
                 .fix = "0.5 says the class that is more likely"});
}

std::string note_on_probabilities(const Model& model) {
  const problem::Loss& loss = model.loss;
  if (!loss.weighted() || (loss.kind != LossKind::logistic && loss.kind != LossKind::softmax)) return "";
  std::vector<std::string> weights;
  for (const double w : loss.class_weights) weights.push_back(short_number(w));
  return "the model was trained with class weights " + join(weights, ", ") +
         ": its probabilities are those of classes that weigh so, not shares of records (docs/use/quality.md)";
}

double score_threshold(const Model& model, const Decision& d) {
  if (!d.threshold) return 0;
  return model.loss.kind == LossKind::logistic ? std::log(*d.threshold / (1 - *d.threshold)) : *d.threshold;
}

problem::Scored scored_alone(const Model& model, const data::Rows& rows) {
  problem::Scored s{.loss = model.loss, .label = rows.label, .score = {}};
  for (std::size_t n = 0; n < rows.count(); ++n)
    for (Index c = 0; c < model.loss.scores(); ++c)
      s.score.push_back(problem::score(rows, n, model.weights.data() + c * rows.features));
  return s;
}

std::vector<double> class_probabilities(const Model& model, const problem::Scored& rows) {
  if (model.loss.kind == LossKind::softmax) {
    std::vector<double> p = rows.score;
    const auto classes = static_cast<std::size_t>(model.loss.classes);
    for (std::size_t n = 0; n < rows.count(); ++n) problem::softmax(std::span(p).subspan(n * classes, classes), 0);
    return p;
  }
  if (model.loss.kind != LossKind::logistic)
    throw Error({.what = "this model has no probability of a class",
                 .value = "loss " + problem::name_of(model.loss),
                 .fix = "train with the logistic loss"});
  std::vector<double> p;
  for (const double s : rows.score) p.insert(p.end(), {logistic(-s), logistic(s)});
  return p;
}

std::vector<double> predicted(const Model& model, const problem::Scored& rows) {
  std::vector<double> said;
  if (!model.loss.classifies()) {
    const data::Bounds b = label_of(model).bounds.value_or(data::Bounds{.low = -1, .high = 1});
    for (const double s : rows.score) said.push_back(in_own_unit(s, b));
    return said;
  }
  for (const std::size_t c : problem::said_classes(rows, 0)) said.push_back(static_cast<double>(c));
  return said;
}

std::string prediction_csv(const Model& model, const data::Rows& rows, std::size_t before, const Decision& decision) {
  expects(rows.features == static_cast<Index>(model.feature_names.size()), "rows with the model's features");
  check_decision(model, decision);
  if (!decision.of.empty()) return one_class_csv(model, rows, before, decision);
  if (model.loss.kind == LossKind::softmax) return class_csv(model, rows, before);
  const auto score = [&](std::size_t n) { return problem::score(rows, n, model.weights); };
  const std::string end = line_end(model);
  if (!model.loss.classifies()) {
    std::string csv = before == 0 ? header(model, "row,prediction") : "";
    const data::Bounds b = label_of(model).bounds.value_or(data::Bounds{.low = -1, .high = 1});
    for (std::size_t n = 0; n < rows.count(); ++n)
      csv += fmt::format("{},{}{}", before + n + 1, number(in_own_unit(score(n), b)), end);
    return csv;
  }
  const bool probabilities = model.loss.kind == LossKind::logistic;
  std::string csv =
      before > 0 ? "" : header(model, probabilities ? "row,probability,prediction" : "row,score,prediction");
  const auto words = class_words(model);
  const std::string no = csv_cell(words[0][0]), yes = csv_cell(words[1][0]);
  const double threshold = score_threshold(model, decision);
  for (std::size_t n = 0; n < rows.count(); ++n) {
    const double s = score(n);
    csv += fmt::format("{},{},{}{}", before + n + 1, number(probabilities ? logistic(s) : s), s > threshold ? yes : no,
                       end);
  }
  return csv;
}

}  // namespace parley::run
