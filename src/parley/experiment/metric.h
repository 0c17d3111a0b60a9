// What an experiment may plot and judge, by the name it has in the file.
#pragma once
#include <string>
#include <vector>

#include "parley/base/word.h"

namespace parley::experiment {

enum class Metric {
  train_loss,           // (1/N) Σ_i mean loss of f_i on node i's rows; in a star, of the trainer's model
  test_error,           // of the mean model on the held-out rows
  disagreement,         // max_i ‖f_i − f̄‖
  distance,             // max_i ‖f_i − f*‖ / ‖f*‖, f* the pooled optimum without privacy
  augmented_objective,  // HHCG20 §VI: Σ_i f_i(w̄_i) + ‖w̄_i − w̄‖, averages over rounds 1 … k of what was released
  epsilon,              // proved, of the rounds so far, the node that spent most
  epsilon_paper,        // the same as the paper prints it; absent where its conditions fail
  seconds,              // processor time of the rounds so far, without measuring
};

// When a run is looked at.
enum class Moment { end, mean, round };  // mean: over the rounds
constexpr Words<Moment, 3> words(Moment) {
  return {{{"end", Moment::end}, {"mean", Moment::mean}, {"", Moment::round}}};
}

struct MetricFacts {
  Metric metric;
  std::string name, label;  // in files, on axes
  std::string noun;         // in sentences
};
const std::vector<MetricFacts>& metrics();
const MetricFacts& facts(Metric metric);

// For sentences: a percentage for the test error, ε as it is printed everywhere (base/printed.h), four digits for
// everything else; "none" when it is not a number.
std::string shown(Metric metric, double value);

}  // namespace parley::experiment
