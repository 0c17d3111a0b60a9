#include "parley/experiment/cell.h"

#include <algorithm>

#include "parley/base/error.h"
#include "parley/base/text.h"

namespace parley::experiment {
namespace {

void apply(const std::vector<Setting>& settings, const std::vector<Option>& rows) {
  for (const Setting& s : settings) set_option_json(find_option(rows, s.option, s.where), s.value, s.where);
}

run::TrainOptions options_of(const Experiment& e, const Series& s, std::optional<double> value,
                             const std::string& data_dir) {
  run::TrainOptions o;
  const auto rows = run::option_rows(o);
  apply(e.options, rows);
  apply(s.options, rows);
  if (value)
    for (const std::string& option : e.sweep->options)
      set_option_json(find_option(rows, option, e.name), *value, e.name + ", sweep of " + option);
  apply(e.quick_options, rows);
  try {
    validate_options(rows);
  } catch (const Error& mistake) {
    throw Error({.what = std::string(mistake.what()) + "\n  in experiment " + e.name + ", series '" + s.name + "'"});
  }
  if (o.algorithm.algorithm == algorithm::auto_algorithm)
    throw Error({.what = "a series names its algorithm",
                 .value = algorithm::auto_algorithm,
                 .where = "experiment " + e.name + ", series '" + s.name + "'",
                 .fix = "write algorithm = \"...\" in its options"});
  if (std::ranges::find(o.data.data, "adult") != o.data.data.end()) o.data.data_dir = data_dir;
  o.engine.seed = 1;
  return o;
}

const Series& named(const Experiment& e, const std::string& name) {
  return *std::ranges::find(e.series, name, &Series::name);
}

std::vector<std::optional<double>> values_of(const Experiment& e, const Series& s) {
  if (!e.sweep || !s.swept) return {std::nullopt};
  return {e.sweep->values.begin(), e.sweep->values.end()};
}

std::string name_of(const Series& s, std::optional<double> value) {
  return value ? s.name + " @ " + number(*value) : s.name;
}

}  // namespace

std::vector<std::string> cell_names(const Experiment& e) {
  std::vector<std::string> names;
  for (const Series& s : e.series)
    for (const auto& value : values_of(e, s)) names.push_back(name_of(s, value));
  return names;
}

bool swept(const Experiment& e, const std::string& series) {
  return e.sweep && named(e, series).swept;
}

std::vector<Cell> cells(const Experiment& e, const std::string& data_dir) {
  std::vector<Cell> all;
  for (const Series& s : e.series)
    for (const auto& value : values_of(e, s)) {
      Cell c{.name = name_of(s, value),
             .series = s.name,
             .legend =
                 value ? (e.series.size() > 1 ? s.name + ", " : "") + e.sweep->label + " = " + number(*value) : s.name,
             .value = value,
             .options = options_of(e, s, value, data_dir),
             .match = s.match};
      if (s.match) {
        const Series& target = named(e, s.match->series);
        c.match_target = options_of(e, target, target.swept ? value : std::nullopt, data_dir);
      }
      all.push_back(std::move(c));
    }
  return all;
}

run::TrainOptions seeded(const Cell& cell, const Experiment& e, long repeat) {
  run::TrainOptions o = cell.options;
  o.engine.seed = static_cast<std::uint64_t>(1 + repeat);
  if (e.over_splits) o.data.split_seed = 1 + repeat;
  return o;
}

}  // namespace parley::experiment
