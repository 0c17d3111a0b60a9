// The options of `account` that give a run's noise as it was, in place of a budget: "How to check" of a report prints them.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "parley/algorithm/noise_used.h"

namespace parley::cli {

struct NoiseOptions {
  std::string rounds;
  std::vector<double> moments, hessian, spread, square;
  std::optional<double> pair;
  bool given() const { return !rounds.empty(); }
};

std::vector<Option> noise_rows(NoiseOptions& o);

// Takes --colluders out of the options where the noise says what pairs share, and puts in the noise of the first round,
// so that a plan can be made; then prices that plan by all of the noise.
// Error where the two do not go together.
class NoiseAsUsed {
 public:
  NoiseAsUsed(const NoiseOptions& given, algorithm::Options& options, int nodes);
  void price_again(algorithm::Plan& plan) const;

 private:
  std::vector<algorithm::NoiseUsed> nodes_;
  std::optional<algorithm::PairNoise> pairs_;
};

}  // namespace parley::cli
