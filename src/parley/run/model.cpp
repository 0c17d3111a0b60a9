#include "parley/run/model.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/data/schema.h"

namespace parley::run {

using nlohmann::json;
constexpr auto format = "parley-model-1";

namespace {

bool many_classes(const Model& model) {
  return model.loss.kind == problem::LossKind::softmax;
}

data::Label label_of(const Model& model) {
  if (model.schema_toml.empty()) return {};
  return data::parse_schema(model.schema_toml, "the model's schema").label;
}

std::vector<std::string> class_names(const Model& model) {
  if (!model.classes.empty()) return model.classes;
  return label_of(model).classes;
}

json weight_lists(const Model& model) {
  if (!many_classes(model)) return std::vector<double>(model.weights.begin(), model.weights.end());
  json lists = json::array();
  const Index features = static_cast<Index>(model.feature_names.size());
  for (Index c = 0; c < model.loss.classes; ++c) {
    const auto one = model.weights.segment(c * features, features);
    lists.push_back(std::vector<double>(one.begin(), one.end()));
  }
  return lists;
}

[[noreturn]] void refuse(const std::string& what, const std::string& where) {
  throw Error({.what = what, .where = where, .fix = "give an unchanged model.json"});
}

// weights, classes and loss of a model whose features are known.
void read_weights(const json& j, Model& model, const std::string& where) {
  std::vector<double> weights;
  model.loss = {.kind = Choice<problem::LossKind>(j.at("loss").get<std::string>()),
                .width = j.at("loss_width").get<double>()};
  if (many_classes(model)) {
    model.classes = j.at("classes").get<std::vector<std::string>>();
    const auto lists = j.at("weights").get<std::vector<std::vector<double>>>();
    const std::set<std::string> distinct(model.classes.begin(), model.classes.end());
    if (distinct.size() != model.classes.size() || distinct.size() < 2 || lists.size() != distinct.size())
      refuse("the model's weights and classes do not belong together", where);
    model.loss.classes = static_cast<int>(lists.size());
    for (const auto& list : lists) {
      if (list.size() != model.feature_names.size())
        refuse("the model's weights and features do not belong together", where);
      weights.insert(weights.end(), list.begin(), list.end());
    }
    if (!model.schema_toml.empty() && label_of(model).classes != model.classes)
      refuse("the model's classes are not those of its schema", where);
  } else {
    weights = j.at("weights").get<std::vector<double>>();
    if (weights.size() != model.feature_names.size())
      refuse("the model's weights and features do not belong together", where);
  }
  model.loss.class_weights = j.value("class_weights", std::vector<double>{});
  const std::vector<double>& by_class = model.loss.class_weights;
  if (!by_class.empty() && (by_class.size() != static_cast<std::size_t>(model.loss.classes) ||
                            !std::ranges::all_of(by_class, [](double w) { return w > 0 && std::isfinite(w); })))
    refuse("the model's class weights are not one positive number for each class", where);
  model.weights = Eigen::Map<const Vector>(weights.data(), static_cast<Index>(weights.size()));
  if (weights.empty() || !model.weights.allFinite())
    refuse("the model's weights and features do not belong together", where);
}

}  // namespace

json to_json(const Model& model, const json& privacy) {
  json j = {{"format", format},
            {"loss", problem::name_of(model.loss)},
            {"loss_width", model.loss.width},
            {"features", model.feature_names},
            {"weights", weight_lists(model)},
            {"schema", model.schema_toml},
            {"not_private", model.not_private},
            {"privacy", privacy}};
  if (model.loss.weighted()) j["class_weights"] = model.loss.class_weights;
  if (many_classes(model)) {
    const auto names = class_names(model);
    expects(static_cast<int>(names.size()) == model.loss.classes, "a name for every class");
    j["classes"] = names;
  }
  return j;
}

namespace {

// Of a file that is no JSON object: what people give instead of a model.
std::string kind_of(const std::filesystem::path& file) {
  const std::string extension = file.extension().string();
  if (extension == ".csv" || extension == ".tsv" || extension == ".libsvm") return "this is a table of rows";
  if (extension == ".toml") return "this is a schema, a study or a file of options (TOML)";
  if (read_file(file, "the model").starts_with("SQLite format 3")) return "this is a ledger";
  return "it is no JSON object, or nested deeper or of more values than any model";
}

}  // namespace

Model read_model(const std::filesystem::path& file) {
  const std::string text = read_file(file, "the model");
  if (!shallow_json(text).is_object())
    throw Error(
        {.what = "not a model: " + kind_of(file), .where = file.string(), .fix = "give the model.json of a run"});
  return model_from_text(text, file.string());
}

Model model_from_text(const std::string& text, const std::string& where) {
  const json j = shallow_json(text);
  if (!j.is_object())
    throw Error({.what = "not a model: it is no JSON object", .where = where, .fix = "give the model.json of a run"});
  try {
    if (j.value("format", json()) == "parley-run-1")
      throw Error(
          {.what = "this is a run record, not a model", .where = where, .fix = "give the model.json beside it"});
    if (!j.contains("format") || !j.at("format").is_string() ||
        !j.at("format").get<std::string>().starts_with("parley-model"))
      throw Error({.what = "this JSON file is not a model",
                   .value = j.value("format", json("no format")).dump(),
                   .allowed = format,
                   .where = where,
                   .fix = "give the model.json of a run"});
    if (j.at("format") != format)
      throw Error({.what = "a model of another version",
                   .value = j.at("format").dump(),
                   .allowed = format,
                   .where = where,
                   .fix = "train it again with this version"});
    Model model;
    model.feature_names = j.at("features").get<std::vector<std::string>>();
    model.schema_toml = j.at("schema").get<std::string>();
    model.outcome = j.value("outcome", "completed");
    model.not_private = j.at("not_private").get<std::vector<std::string>>();
    read_weights(j, model, where);
    return model;
  } catch (const json::exception& e) {
    throw Error(
        {.what = "not a model: " + std::string(e.what()), .where = where, .fix = "give the model.json of a run"});
  }
}

}  // namespace parley::run
