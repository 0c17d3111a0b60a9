// What the runs of one cell gave: a curve over rounds per metric and run, and the facts that any number must be read
// with.
#pragma once
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "parley/experiment/metric.h"
#include "parley/record/adjacency.h"

namespace parley::experiment {

inline constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

using Curve = std::vector<double>;  // by round, from 0; NaN: not measured, or the run had ended

struct Spread {
  double mean = nothing, low = nothing, high = nothing;
};
Spread spread(const std::vector<double>& values);  // NaN as soon as one of them is

struct Facts {
  int nodes = 0;
  double least_records = 0, most_records = 0, test_rows = 0;
  long features = 0, rounds = 0, private_rounds = 0;
  bool noisy = false;
  double epsilon = nothing, delta = 0;    // proved, whole run
  std::optional<double> epsilon_paper{};  // as printed
  std::string epsilon_paper_absent{};
  double noise_level = nothing;  // node 0, first round: rate or scale as the option has it
  std::vector<std::string> not_private{};
  record::Adjacency adjacency{};  // what epsilon is about
  std::vector<std::string> warnings{};
};

struct Measured {
  std::string name, series, legend;
  std::optional<double> value;  // of the sweep
  Facts facts;
  std::vector<std::map<Metric, Curve>> runs;      // one per repeat
  std::vector<std::string> outcomes;              // of each
  std::map<Metric, std::vector<double>> optimum;  // pooled, without privacy: training loss and test error, per split

  long rounds() const;
  // One number per run. at: end, mean (over the rounds from 1), or a round.
  std::vector<double> values(Metric metric, const Choice<Moment>& at = Moment::end) const;
  Spread at_round(Metric metric, std::size_t round) const;
  std::string ended_early() const;  // "2 of 10 runs diverged", or empty
};

}  // namespace parley::experiment
