// model.json: the classifier that all nodes end with, what it needs to encode new rows, and what it cost.
#pragma once
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "parley/base/vector.h"
#include "parley/data/dataset.h"
#include "parley/problem/loss.h"

namespace parley::run {

struct Model {
  Vector weights;  // f̄, the mean of the nodes' classifiers; in a star the trainer's
  std::vector<std::string> feature_names;
  problem::Loss loss;
  std::string schema_toml;               // empty for LIBSVM data
  std::vector<std::string> not_private;  // reasons; empty when the claim below stands
  std::string outcome = "completed";     // of the run it comes from
  std::vector<std::string> classes{};    // softmax: names of the classes; to_json takes the schema's when left empty
};

// "class_weights" where a record counted by its class. Softmax: "classes", and "weights" as one list per class.
nlohmann::json to_json(const Model& model, const nlohmann::json& privacy);
Model read_model(const std::filesystem::path& file);  // Error when it is not a model of this version
Model model_from_text(const std::string& text, const std::string& where);

}  // namespace parley::run
