// Small studies with real nodes, and what an undisturbed run of each in one process gives.
#pragma once
#include <memory>
#include <vector>

#include "parley/algorithm/nodes.h"
#include "parley/data/dataset.h"
#include "parley/network/graph.h"
#include "parley/party/party.h"
#include "parley/study/continuation.h"

namespace parley::protocol {

class Scenario {
 public:
  Scenario(const algorithm::Options& options, network::Graph graph);
  Scenario(const Scenario&) = delete;
  Scenario& operator=(const Scenario&) = delete;

  std::unique_ptr<algorithm::Node> node(int i) const { return node(first, i, {}); }
  // Node i of a part of the run.
  std::unique_ptr<algorithm::Node> node(const study::Part& part, int i, const algorithm::Start& start) const;
  protocol::Agreement agreement() const;
  int nodes() const { return graph.nodes(); }

  network::Graph graph;
  std::vector<data::Rows> rows;
  algorithm::Setting setting;
  algorithm::Plan plan;
  Index dimension = 0;
  study::Part first;  // the whole run, as planned

  static constexpr std::uint64_t seed = 5;  // of the noise
  // By run::drive, in process.
  std::vector<std::vector<Vector>> released;  // by round and node
  std::vector<double> spent;                  // by node
  Vector model;
  Vector model_of(const std::vector<std::vector<Vector>>& values) const;  // by round and node

  // The same parts in one process, one after the other.
  using Values = std::vector<std::vector<std::vector<Vector>>>;  // by part, round and node
  Values in_parts(const std::vector<study::Part>& parts, const std::vector<protocol::Succession>& agreements) const;
  Vector model_in_parts(const std::vector<study::Part>& parts, const std::vector<protocol::Succession>& agreements,
                        const Values& values) const;

 private:
  void run_undisturbed();
};

// Options with loss weight 1 and a budget of ε = 5.
algorithm::Options options_of(const std::string& name, long rounds, const std::string& noise = "gamma");

// mr-admm, pp, dp-admm, newton, … on two to five nodes; made once.
const std::vector<std::unique_ptr<Scenario>>& scenarios();

// Node numbers are keys. Randomised, like ECDSA: the same bytes never get the same signature twice.
protocol::Keys simulated_keys(int node);

bool same_bits(const Vector& a, const Vector& b);

}  // namespace parley::protocol
