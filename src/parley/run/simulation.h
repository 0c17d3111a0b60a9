// What a simulation knows before its first round: everyone's rows, the graph, the public plan, and the pooled optimum
// as a yardstick.
#pragma once
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "parley/algorithm/planner.h"
#include "parley/algorithm/schedule.h"
#include "parley/data/schema.h"
#include "parley/data/source.h"
#include "parley/network/graph.h"
#include "parley/network/ranks.h"
#include "parley/problem/objective.h"
#include "parley/problem/quality.h"
#include "parley/record/adjacency.h"
#include "parley/run/config.h"

namespace parley::run {

struct Simulation {  // one for all repeats
  data::Holdings holdings;
  network::Graph graph;          // of a star: the trainer is the last node
  algorithm::Selected selected;  // which algorithm runs, and whether the planner chose it
  algorithm::Plan plan;
  std::vector<problem::Problem> problems;  // of this process's nodes
  std::vector<std::string> not_private;    // why the claim is not one
  record::Adjacency adjacency{};           // what the claim is about
  data::Unit unit{};                       // whom it is for
  problem::Unit label_unit{};              // of a label that is a number: every test error is in it
  // Pooled, not private. Not every problem has one that can be certified: then empty and NaN.
  Vector optimum;
  double test_error_nonprivate = std::numeric_limits<double>::quiet_NaN(),
         train_loss_nonprivate = std::numeric_limits<double>::quiet_NaN();
  double test_error_guessing =
      std::numeric_limits<double>::quiet_NaN();        // always the larger class of training rows, or
                                                       // their mean
  std::optional<problem::Quality> quality_nonprivate;  // of the optimum, on the held-out rows
  double test_rows = 0;                                // of all processes

  int parties() const { return static_cast<int>(plan.nodes.size()); }  // who holds rows
  Index dimension() const { return problems.front().dimension(); }     // of f
  int first() const { return holdings.first(); }                       // of this process's nodes
  bool hosts_trainer() const { return plan.star() && holdings.end() == parties(); }
  network::Blocks blocks() const;         // of all nodes, a trainer among them
  network::Graph exchange_graph() const;  // whose releases reach whom: sums are passed on, to everybody
};

// Loads, checks and plans; throws Error before anything is written. Every process loads its own nodes' rows.
Simulation prepare(const TrainOptions& options, network::Ranks& ranks, const data::Watch& watch = {});
// Of rows that the caller has loaded, without the pooled optimum.
Simulation prepare(const TrainOptions& options, network::Ranks& ranks, data::Holdings holdings);

std::string not_covered(const Simulation& simulation);  // rows that were declared public; "" of none

nlohmann::json privacy_json(const Simulation& simulation, const algorithm::Cost& spent, bool whole_run);

// What must be the same for a run to be the same run: the public part of the header, without folders and threads.
std::string schema_digest(const Simulation& simulation);  // of its canonical text; empty: no schema says what rows are
nlohmann::json configuration_json(const Simulation& simulation, const TrainOptions& options);

// run.json: what was asked, by whom it is held, and what came of it.
nlohmann::json header_json(const Simulation& simulation, const TrainOptions& options, const std::string& outcome);

}  // namespace parley::run
