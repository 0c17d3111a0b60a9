// Who talks to whom: a connected undirected graph, nodes 0 … N−1, neighbours in ascending order.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "parley/base/options.h"
#include "parley/base/vector.h"

namespace parley::network {

class Graph {
 public:
  // Throws Error for a self-loop, a node out of range, or a disconnected graph (naming the components).
  Graph(int nodes, const std::vector<std::pair<int, int>>& edges);

  int nodes() const { return static_cast<int>(neighbours_.size()); }
  const std::vector<int>& neighbours(int node) const { return neighbours_[static_cast<std::size_t>(node)]; }
  int degree(int node) const { return static_cast<int>(neighbours(node).size()); }
  std::vector<int> degrees() const;
  std::vector<std::pair<int, int>> edges() const;  // each once, i < j, sorted
  bool bipartite() const;
  Matrix laplacian(double sign) const;  // D − A for sign = −1, the signless D + A for +1

 private:
  std::vector<std::vector<int>> neighbours_;
};

struct GraphOptions {
  std::string graph = "auto";
  double edge_probability = 0.5;
  long ring_neighbours = 4;
  double rewiring = 0.1;
  long graph_seed = 1;
};
std::vector<Option> option_rows(GraphOptions& o);

Graph complete_graph(int nodes);

std::vector<int> distances(const Graph& graph, int from);  // edges to each node
// How many the others are in each group that holds together without this node, the largest first. More than one group:
// they reach each other through it alone.
std::vector<int> groups_without(const Graph& graph, int node);

// Whose releases reach this node, and whom its own reach: its neighbours or, where they are passed on, everybody.
std::vector<int> heard_by(const Graph& graph, bool passed_on, int node);

// The trainer, node number `providers`, and an edge to every data provider.
Graph trainer_star(int providers);

// "auto" (a ring), "ring", "path", "star", "complete", "grid", "random", "small-world", an inline list "0-2,0-3,2-3",
// or an edge-list file (two node numbers a line, # comments). Random graphs are drawn from the public graph-seed, again
// until connected.
Graph make_graph(const GraphOptions& options, int nodes);

}  // namespace parley::network
