// What a simulation knows before its first round: everyone's rows, the graph, the public plan, and the pooled optimum
// as a yardstick.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "parley/algorithm/schedule.h"
#include "parley/base/error.h"
#include "parley/data/source.h"
#include "parley/network/graph.h"
#include "parley/network/ranks.h"
#include "parley/problem/objective.h"
#include "parley/record/adjacency.h"
#include "parley/run/config.h"

namespace parley::run {

struct Study {  // one for all repeats
  data::Holdings holdings;
  network::Graph graph;  // of a star: the trainer is the last node
  algorithm::Plan plan;
  std::vector<problem::Problem> problems;  // of this process's nodes
  std::vector<std::string> not_private;    // why the claim is not one
  record::Adjacency adjacency{};           // what the claim is about
  Vector optimum;                          // centralised, not private
  double test_error_nonprivate = 0, train_loss_nonprivate = 0;
  double test_rows = 0;  // of all processes

  int parties() const { return static_cast<int>(plan.nodes.size()); }  // who holds rows
  Index dimension() const { return problems.front().dimension(); }     // of f
  int first() const { return holdings.first(); }                       // of this process's nodes
  bool hosts_trainer() const { return plan.star() && holdings.end() == parties(); }
  network::Blocks blocks() const;  // of all nodes, a trainer among them
};

// The graph of peers, or for the star family the trainer with its providers; Error when --graph contradicts that.
network::Graph graph_for(const network::GraphOptions& options, const std::string& algorithm, int nodes);
// What is public about the nodes on it; records: one for all, or one per node.
algorithm::Setting setting_on(const network::Graph& graph, const std::vector<double>& records, int nodes);

// Why the loss does not fit the label, if so; classes: 0 for two.
std::optional<Error::Parts> loss_mismatch(const std::string& loss, bool regression, std::size_t classes);

// Loads, checks and plans; throws Error before anything is written. Every process loads its own nodes' rows.
Study prepare(const TrainOptions& options, network::Ranks& ranks);

// The claim of a run that has spent `epsilon`; unless it was the whole planned run, there is no printed bound to
// compare with; with its adjacency, theorem and stamp: the same object in run.json, model.json and `train --json`.
// Parties hold their own rows, so nothing of theirs is dealt.
nlohmann::json privacy_json(const algorithm::Plan& plan, const std::vector<std::string>& not_private, double epsilon,
                            bool whole_run, record::Adjacency adjacency = record::Adjacency::replace_one);
nlohmann::json privacy_json(const Study& study, double epsilon, bool whole_run);

// What must be the same for a run to be the same run: the public part of the header, without folders and threads.
nlohmann::json configuration_json(const Study& study, const TrainOptions& options);

// run.json: what was asked, by whom it is held, and what came of it.
nlohmann::json header_json(const Study& study, const TrainOptions& options, const std::string& outcome);

}  // namespace parley::run
