#include "parley/run/model.h"

#include <nlohmann/json.hpp>

#include "parley/base/error.h"
#include "parley/base/text.h"

namespace parley::run {

using nlohmann::json;
constexpr auto format = "parley-model-1";

json to_json(const Model& model, const json& privacy) {
  return {{"format", format},
          {"loss", problem::name_of(model.loss)},
          {"loss_width", model.loss.width},
          {"features", model.feature_names},
          {"weights", std::vector<double>(model.weights.begin(), model.weights.end())},
          {"schema", model.schema_toml},
          {"not_private", model.not_private},
          {"privacy", privacy}};
}

Model read_model(const std::filesystem::path& file) {
  const std::string text = read_file(file, "the model");
  try {
    const json j = json::parse(text);
    if (j.at("format") == "parley-run-1")
      throw Error({.what = "this is a run record, not a model",
                   .where = file.string(),
                   .fix = "give the model.json beside it"});
    if (j.at("format") != format)
      throw Error({.what = "a model of another version",
                   .value = j.at("format").dump(),
                   .allowed = format,
                   .where = file.string(),
                   .fix = "train it again with this version"});
    Model model;
    const auto weights = j.at("weights").get<std::vector<double>>();
    model.weights = Eigen::Map<const Vector>(weights.data(), static_cast<Index>(weights.size()));
    model.feature_names = j.at("features").get<std::vector<std::string>>();
    model.loss = problem::loss_named(j.at("loss").get<std::string>(), j.at("loss_width").get<double>());
    model.schema_toml = j.at("schema").get<std::string>();
    model.outcome = j.value("outcome", "completed");
    model.not_private = j.at("not_private").get<std::vector<std::string>>();
    if (weights.size() != model.feature_names.size() || weights.empty() || !model.weights.allFinite())
      throw Error({.what = "the model's weights and features do not belong together",
                   .where = file.string(),
                   .fix = "give an unchanged model.json"});
    return model;
  } catch (const json::exception& e) {
    throw Error({.what = "not a model: " + std::string(e.what()),
                 .where = file.string(),
                 .fix = "give the model.json of a run"});
  }
}

}  // namespace parley::run
