// A simulation: all nodes in this process, on all cores, or on the ranks of an MPI job, with the bits of what
// is released independent of the number of threads and ranks. Privacy: a simulation holds everyone's rows and measures
// on them; its record is private as a whole. What is simulated is the protocol and its charges, which are the same code
// as between organisations.
#pragma once
#include <atomic>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "parley/problem/quality.h"
#include "parley/run/driver.h"
#include "parley/run/intervals/coefficients.h"
#include "parley/run/simulation.h"

namespace parley::run {

struct RoundMetrics {
  int round = 0;
  double epsilon = 0;                  // spent so far by the node that spent most, against the colluders of the plan
  double epsilon_all_others = 0;       // the same against all others
  double disagreement = 0;             // max_i ‖f_i − f̄‖, a function of released values
  std::optional<double> train_loss{};  // (1/N) Σ_i mean loss of f_i on node i's rows: private
  std::optional<double> test_error{};  // of f̄ on the held-out rows, a number's in its own unit: private
};

struct NodeSummary {
  int node = 0, degree = 0;
  std::size_t records = 0;
  double epsilon = 0;  // spent, against the colluders of the plan
  double epsilon_all_others = 0;
  std::optional<double> epsilon_paper;
  double train_loss = 0, distance = 0;  // private; ‖f_i − f̄‖
};

struct Result {
  Outcome outcome = Outcome::completed;
  std::vector<RoundMetrics> history;
  std::vector<Vector> f;                  // the classifier that each party of this process ends with
  Vector mean;                            // the model
  std::vector<Coefficient> coefficients;  // with --intervals
  std::vector<NodeSummary> nodes;
  std::optional<problem::Quality> quality;  // of the model on the held-out rows: private
  double epsilon = 0, epsilon_all_others = 0;
  double seconds = 0, seconds_metrics = 0;
  Phases phases;
  std::string record;  // folder
  const RoundMetrics& last() const { return history.back(); }
};

struct Hooks {  // stop: on any rank
  std::function<void(const Simulation&)> on_start;
  std::function<void(int repeat, const RoundMetrics&)> on_round;
  const std::atomic<bool>* stop = nullptr;
  data::Watch watch{};  // while rows are loaded; of rank 0
};

struct Summary {
  Simulation simulation;
  std::vector<Result> runs;
  std::string record;
};

// Checks everything before anything is written; throws Error, of several ranks Agreed (together.h). Any other exception
// is one rank's own, and the others wait for it: Ranks::abandon. The hooks are called on rank 0.
Summary train(const TrainOptions& options, const Hooks& hooks, network::Ranks& ranks);
Summary train(const TrainOptions& options, const Hooks& hooks);  // in this process
// Of rows that the caller has loaded, in this process: options.data says nothing, and there is no pooled optimum.
Summary train(const TrainOptions& options, data::Holdings holdings, const Hooks& hooks);

// The keys of `train --json`.
nlohmann::json to_json(const Summary& summary, const TrainOptions& options);

}  // namespace parley::run
