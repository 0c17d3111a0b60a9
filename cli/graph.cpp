#include "parley/network/graph.h"

#include <fmt/core.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "parley/base/text.h"

namespace parley::cli {
namespace {

struct Shown {
  network::GraphOptions graph;
  long nodes = 5;
};

std::vector<Option> rows(Shown& o) {
  auto list = network::option_rows(o.graph);
  list.insert(list.begin(), {"nodes", "N", "number of nodes", between(2, 1000000), &o.nodes, "network"});
  return list;
}

int run_graph(const Arguments& arguments) {
  Shown o;
  set_from(arguments, rows(o));
  validate_options(rows(o));
  const network::Graph graph = network::make_graph(o.graph, static_cast<int>(o.nodes));
  const auto degrees = graph.degrees();
  const auto [low, high] = std::ranges::minmax(degrees);
  constexpr int spectrum_limit = 2000;
  double connectivity = 0, largest = 0;
  if (graph.nodes() <= spectrum_limit) {
    const Vector spectrum =
        Eigen::SelfAdjointEigenSolver<Matrix>(graph.laplacian(-1), Eigen::EigenvaluesOnly).eigenvalues();
    connectivity = spectrum[1];
    largest = spectrum[spectrum.size() - 1];
  }
  if (arguments.has("json")) {
    nlohmann::json out = {
        {"nodes", graph.nodes()}, {"edges", graph.edges()}, {"degrees", degrees}, {"bipartite", graph.bipartite()}};
    if (graph.nodes() <= spectrum_limit)
      out.update({{"algebraic_connectivity", connectivity}, {"largest_eigenvalue", largest}});
    fmt::print("{}\n", out.dump());
    return 0;
  }
  std::vector<std::vector<std::string>> lines = {
      {"nodes", std::to_string(graph.nodes())},
      {"edges", std::to_string(graph.edges().size())},
      {"neighbours", low == high ? std::to_string(low) : fmt::format("{} to {}", low, high)},
      {"bipartite", graph.bipartite() ? "yes (ZKL20 Theorem 1 (ii), (iv) never hold)" : "no"}};
  if (graph.nodes() <= spectrum_limit) {
    lines.push_back(
        {"algebraic connectivity", fmt::format("{:.6g} (second smallest eigenvalue of D - A)", connectivity)});
    lines.push_back({"largest eigenvalue", fmt::format("{:.6g}", largest)});
  }
  for (auto& line : lines) line[0] += ":";
  for (const auto& line : lines) fmt::print("{:<24} {}\n", line[0], line[1]);
  std::string all;
  for (const auto& [i, j] : graph.edges()) {
    if (all.size() > 400) {
      all += " …";
      break;
    }
    all += fmt::format("{}{}-{}", all.empty() ? "" : ",", i, j);
  }
  fmt::print("{:<24} {}\n", "edge list:", all);
  return 0;
}

}  // namespace

Command graph_command() {
  static Shown defaults;
  return {.name = "graph",
          .summary = "show a graph: edges, neighbours, spectrum",
          .rows = rows(defaults),
          .flags = {"json"},
          .examples =
              "  parley graph --nodes 5 --graph 0-2,0-3,2-3,1-4,3-4\n"
              "  parley graph --nodes 20 --graph random --edge-probability 0.3\n",
          .run = run_graph};
}

}  // namespace parley::cli
