#include "parley/experiment/metric.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "parley/base/printed.h"

namespace parley::experiment {

const std::vector<MetricFacts>& metrics() {
  static const std::vector<MetricFacts> all = {
      {Metric::train_loss, "train-loss", "training loss", "training loss"},
      {Metric::test_error, "test-error", "test error", "test error"},
      {Metric::disagreement, "disagreement", "disagreement, max ‖f_i − f̄‖", "disagreement"},
      {Metric::distance, "distance", "distance to the optimum, max ‖f_i − f*‖ / ‖f*‖",
       "relative distance to the optimum"},
      {Metric::augmented_objective, "augmented-objective", "Σ f_i(w̄_i) + ‖w̄_i − w̄‖", "augmented objective"},
      {Metric::epsilon, "epsilon", "ε proved", "ε proved"},
      {Metric::epsilon_paper, "epsilon-paper", "ε as printed", "ε as printed"},
      {Metric::seconds, "seconds", "processor seconds", "processor seconds"},
  };
  return all;
}

const MetricFacts& facts(Metric metric) {
  return *std::ranges::find(metrics(), metric, &MetricFacts::metric);
}

std::string shown(Metric metric, double value) {
  if (!std::isfinite(value)) return "none";
  if (metric == Metric::epsilon || metric == Metric::epsilon_paper) return printed_epsilon(value);
  return metric == Metric::test_error ? fmt::format("{:.2f} %", 100 * value) : fmt::format("{:.4g}", value);
}

}  // namespace parley::experiment
