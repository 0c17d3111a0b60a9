// Algorithms side by side, each planned for the same whole-run (ε, δ), on the same rows and split: never at equal
// noise. Privacy: simulations. A cell's ε is that of one run; whoever sees all of them sees them all paid, and to
// choose by an error that was measured on private rows is covered by none.
#pragma once
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "parley/algorithm/newton/forecast.h"
#include "parley/run/simulate.h"

namespace parley::run {

struct Contest {
  TrainOptions common;  // its algorithm, epsilon and folder are set for each cell
  std::vector<std::string> algorithms;
  std::vector<double> budgets;  // ε of a whole run, the same for every node
  std::string out;
};

struct Spread {  // over the runs of a cell
  double mean = 0, low = 0, high = 0;
};

struct Cell {
  std::string algorithm;  // as it was asked for: auto, or a name
  double budget = 0;
  algorithm::Selected selected{};                         // what ran
  std::optional<algorithm::newton::Forecast> expected{};  // where one is known
  std::string refused{};                                  // why there is no run; empty: there are
  std::size_t runs = 0, diverged = 0;
  double epsilon = 0, delta = 0;  // proved, of the node that loses most; never above the budget
  long rounds = 0;
  std::size_t private_rounds = 0;
  Spread train_loss{};                     // private, as is:
  std::optional<Spread> test_error{};      // where rows were held out
  std::optional<Spread> balanced_error{};  // the same, of classes
  std::string record{};
};

struct OutsideResult {  // of another program, as its file says it: outside_results.h
  std::string algorithm{};
  double epsilon = 0, delta = 0;
  std::size_t runs = 0;
  Spread test_error{};
};

struct Comparison {
  std::vector<Cell> cells;  // by algorithm, then by budget
  int nodes = 0;
  bool classifies = true;
  std::string data{};
  double train_loss_nonprivate = 0;
  std::optional<double> test_error_nonprivate{}, test_error_guessing{};  // of a number in its own unit
  std::string
      class_weight{};  // as given, where classes have weights: then the balanced error judges, not the test error
  std::optional<double> balanced_error_nonprivate{}, balanced_error_guessing{};
  std::vector<std::string> not_private{};  // why the claims are not ones
  record::Adjacency adjacency{};           // what they are about
  long rows_per_person = 0;                // 0: one record
  bool interrupted = false;                // what was finished is here
  std::vector<OutsideResult> outside{};    // not checked by parley
};

// What decides between cells: the balanced error where classes have weights (docs/use/quality.md, a rare class), else the
// test error, else the training loss. Of a cell that ran, without privacy, and of guessing where that is known.
struct Judged {
  enum class By { train_loss, test_error, balanced_error } by = By::train_loss;
  double nonprivate = 0;
  std::optional<double> guessing{};
};
Judged judged(const Comparison& comparison);
const Spread& judged(const Comparison& comparison, const Cell& cell);

struct ContestHooks {
  std::function<void(std::size_t cell, const Simulation&)> on_cell;  // it begins
  std::function<void(std::size_t cell, int repeat, const RoundMetrics&)> on_round;
  const std::atomic<bool>* stop = nullptr;
};

// An algorithm that cannot keep a budget, or not with this loss, is a cell that says why. Error when none can.
Comparison compare(const Contest& contest, const ContestHooks& hooks);

std::string to_csv(const Comparison& comparison);
nlohmann::json to_json(const Comparison& comparison);

}  // namespace parley::run
