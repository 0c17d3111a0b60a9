#include <nlohmann/json.hpp>
#include <utility>

#include "parley/base/error.h"
#include "parley/base/input_file.h"
#include "parley/base/text.h"
#include "parley/library/inside.h"
#include "parley/run/quality/prediction.h"
#include "parley/run/quality/quality.h"

namespace parley {
namespace library {

Model model_of(const std::string& text) {
  auto inside = std::make_shared<Model::Inside>();
  inside->model = run::model_from_text(text, "the model");
  inside->json = text;
  inside->weights.assign(inside->model.weights.begin(), inside->model.weights.end());
  return Model(std::move(inside));
}

namespace {

void check_rows(const run::Model& model, const Rows& rows) {
  if (rows.features() != model.feature_names.size())
    throw Error({.what = "the rows have " + std::to_string(rows.features()) + " features, the model " +
                         std::to_string(model.feature_names.size()),
                 .where = "the rows",
                 .fix = "encode them by the model's own schema"});
}

problem::Scored scored(const run::Model& model, const Rows& rows) {
  check_rows(model, rows);
  return run::scored_alone(model, rows.inside().dataset.rows);
}

}  // namespace
}  // namespace library

Model Model::read(const std::filesystem::path& file) {
  run::read_model(file);  // what is no model is told with the file's name
  return library::model_of(read_file(file, "the model"));
}

Model Model::from_json(const std::string& text) {
  return library::model_of(text);
}

void Model::save(const std::filesystem::path& file) const {
  write_file(file, inside_->json);
}

const std::string& Model::json() const {
  return inside_->json;
}

const std::vector<double>& Model::weights() const {
  return inside_->weights;
}

std::vector<std::string> Model::features() const {
  return inside_->model.feature_names;
}

std::vector<std::string> Model::classes() const {
  if (!inside_->model.loss.classifies()) return {};
  return run::class_names(inside_->model.schema_toml, inside_->model.classes);
}

std::string Model::loss() const {
  return problem::name_of(inside_->model.loss);
}

Schema Model::schema() const {
  return {inside_->model.schema_toml};
}

std::vector<std::string> Model::not_private() const {
  return inside_->model.not_private;
}

std::vector<double> Model::scores(const Rows& rows) const {
  return library::scored(inside_->model, rows).score;
}

std::vector<double> Model::probabilities(const Rows& rows) const {
  return run::class_probabilities(inside_->model, library::scored(inside_->model, rows));
}

std::vector<double> Model::predicted(const Rows& rows) const {
  return run::predicted(inside_->model, library::scored(inside_->model, rows));
}

std::string Model::evaluate(const Rows& rows) const {
  const run::Model& model = inside_->model;
  library::check_rows(model, rows);
  const problem::Quality q = problem::quality(problem::scored(rows.inside().dataset.rows, model.loss, model.weights),
                                              {.unit = run::unit_of(model.schema_toml)});
  return run::evaluation_json(q, run::class_names(model.schema_toml, model.classes), model.not_private).dump();
}

}  // namespace parley
