// What the handles of include/parley/parley.h hold.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "parley/base/options.h"
#include "parley/data/dataset.h"
#include "parley/parley.h"
#include "parley/run/model.h"

namespace parley {

struct Rows::Inside {
  data::Dataset dataset;
  std::vector<std::string> warnings{};
};

struct Model::Inside {
  run::Model model;
  std::string json;
  std::vector<double> weights;
};

namespace library {

Model model_of(const std::string& json_text);

// Sets each named option; an unknown name is an Error that offers the nearest.
void set_options(const std::vector<Option>& rows, const Settings& settings);

}  // namespace library
}  // namespace parley
