// An experiment's runs: one cell per series and value of the sweep, as options of `parley train`.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "parley/experiment/experiment.h"
#include "parley/run/config.h"

namespace parley::experiment {

struct Cell {
  std::string name;    // "series", or "series @ value"
  std::string series;  // the name of it
  std::string legend;  // for charts
  std::optional<double> value;
  run::TrainOptions options;  // of repeat 0; seed and split of repeat r: seeded()
  std::optional<Match> match;
  std::optional<run::TrainOptions> match_target;  // the series whose loss is to be met
};

std::vector<std::string> cell_names(const Experiment& experiment);
bool swept(const Experiment& experiment, const std::string& series);  // has several cells
std::vector<Cell> cells(const Experiment& experiment, const std::string& data_dir);

// Repeat r has noise from seed 1 + r in every series, and with --repeats-over split the rows dealt by seed 1 + r.
run::TrainOptions seeded(const Cell& cell, const Experiment& experiment, long repeat);

}  // namespace parley::experiment
