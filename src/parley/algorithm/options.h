// What a run does, in the product's words (docs/notation.md has the papers' letters). Everything here is public and
// fixed before data is touched. Members and rows are declared once, here.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "parley/base/options.h"

namespace parley::algorithm {

struct Options {
  std::string algorithm = "mr-admm";
  long rounds = 0;  // 0: 50, or the planner's under a budget
  std::string loss = "logistic";
  double loss_width = 0.5;
  double loss_weight = 1750;
  double regularization = 0.22;
  std::string regularizer = "l2";
  double l1_share = 0.5;
  std::string weighting = "equal";
  std::vector<double> penalty;  // empty: 1, or the planner's under a budget
  std::vector<double> penalty_growth{1};
  long penalty_growth_rounds = 0;
  std::string dual_step = "common";
  std::string step_size = "auto";
  std::optional<double> solution_bound;  // D_w; empty: from records declared public, or 10
  std::optional<double> damping;         // empty: 0.5, or the planner's under a budget
  double damping_growth = 1;
  std::string noise = "auto";
  std::string noise_on = "auto";
  std::vector<double> noise_rate;  // empty: 0.5, or calibrated under a budget
  std::vector<double> noise_rate_growth{1};
  std::vector<double> noise_scale;  // empty: calibrated under a budget
  std::vector<double> epsilon;      // the budget of the whole run; empty: the noise is given instead
  std::optional<double> delta;
  std::optional<double> iteration_epsilon, iteration_delta;
  std::string sensitivity = "proved";
  std::string diameter = "auto";
  std::string bound = "proved";
  std::string average = "auto";
  std::string start = "zero";
  std::optional<double> tolerance;  // none: 1e-6, or what the sizes need (rules.h)
  double release_bound = 1000;
};

std::vector<Option> option_rows(Options& o);

}  // namespace parley::algorithm
