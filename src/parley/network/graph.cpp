#include "parley/network/graph.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <set>

#include "parley/base/error.h"
#include "parley/base/public_random.h"
#include "parley/base/text.h"

namespace parley::network {
namespace {

using Edges = std::vector<std::pair<int, int>>;

std::vector<std::vector<int>> components(const std::vector<std::vector<int>>& neighbours) {
  std::vector<bool> seen(neighbours.size());
  std::vector<std::vector<int>> found;
  for (std::size_t start = 0; start < neighbours.size(); ++start) {
    if (seen[start]) continue;
    std::vector<int> component{static_cast<int>(start)};
    seen[start] = true;
    for (std::size_t i = 0; i < component.size(); ++i)
      for (const int j : neighbours[static_cast<std::size_t>(component[i])])
        if (!seen[static_cast<std::size_t>(j)]) {
          seen[static_cast<std::size_t>(j)] = true;
          component.push_back(j);
        }
    std::ranges::sort(component);
    found.push_back(component);
  }
  return found;
}

std::string list(const std::vector<int>& nodes) {
  std::vector<std::string> names;
  for (const int i : nodes) {
    if (names.size() == 12) {
      names.emplace_back("...");
      break;
    }
    names.push_back(std::to_string(i));
  }
  return "{" + join(names, ", ") + "}";
}

Edges ring(int n) {
  Edges edges;
  for (int i = 0; i + 1 < n; ++i) edges.emplace_back(i, i + 1);
  if (n > 2) edges.emplace_back(0, n - 1);
  return edges;
}

Edges path(int n) {
  Edges edges;
  for (int i = 0; i + 1 < n; ++i) edges.emplace_back(i, i + 1);
  return edges;
}

Edges star(int n) {
  Edges edges;
  for (int i = 1; i < n; ++i) edges.emplace_back(0, i);
  return edges;
}

Edges complete(int n) {
  Edges edges;
  for (int i = 0; i < n; ++i)
    for (int j = i + 1; j < n; ++j) edges.emplace_back(i, j);
  return edges;
}

Edges grid(int n) {  // near-square, filled row by row
  const int width = static_cast<int>(std::ceil(std::sqrt(n)));
  Edges edges;
  for (int i = 0; i < n; ++i) {
    if ((i + 1) % width != 0 && i + 1 < n) edges.emplace_back(i, i + 1);
    if (i + width < n) edges.emplace_back(i, i + width);
  }
  return edges;
}

Edges random_graph(int n, double probability, PublicRandom& draw) {
  Edges edges;
  for (int i = 0; i < n; ++i)
    for (int j = i + 1; j < n; ++j)
      if (draw.uniform() < probability) edges.emplace_back(i, j);
  return edges;
}

Edges small_world(int n, int near, double rewiring, PublicRandom& draw) {  // Watts and Strogatz
  std::set<std::pair<int, int>> edges;
  const auto edge = [](int i, int j) { return std::pair(std::min(i, j), std::max(i, j)); };
  for (int step = 1; step <= near / 2; ++step)
    for (int i = 0; i < n; ++i)
      if (i != (i + step) % n) edges.insert(edge(i, (i + step) % n));
  for (const auto& [i, j] : std::vector(edges.begin(), edges.end())) {
    if (draw.uniform() >= rewiring) continue;
    const int other = static_cast<int>(draw.below(static_cast<std::uint64_t>(n)));
    if (other == i || edges.contains(edge(i, other))) continue;
    edges.erase(edge(i, j));
    edges.insert(edge(i, other));
  }
  return {edges.begin(), edges.end()};
}

template <class Draw>
Edges until_connected(int n, const std::string& what, const std::string& fix, const Draw& draw) {
  for (int attempt = 0; attempt < 1000; ++attempt) {
    Edges edges = draw();
    std::vector<std::vector<int>> neighbours(static_cast<std::size_t>(n));
    for (const auto& [i, j] : edges) {
      neighbours[static_cast<std::size_t>(i)].push_back(j);
      neighbours[static_cast<std::size_t>(j)].push_back(i);
    }
    if (components(neighbours).size() == 1) return edges;
  }
  throw Error({.what = "no connected " + what + " graph of " + std::to_string(n) + " nodes in 1000 draws",
               .where = "option --graph",
               .fix = fix});
}

int node_number(const std::string& text, const std::string& where) {
  const double value = parse_number(text, "node", where);
  if (value != std::floor(value) || value < 0 || value > 1e7)
    throw Error(
        {.what = "a node is a whole number from 0", .value = text, .where = where, .fix = "number nodes 0, 1, 2, ..."});
  return static_cast<int>(value);
}

Edges inline_edges(const std::string& text) {
  Edges edges;
  for (const auto& part : split_list(text)) {
    const auto ends = split_list(part, '-');
    if (ends.size() != 2)
      throw Error(
          {.what = "an edge is two nodes", .value = "'" + part + "'", .allowed = "0-1", .where = "option --graph"});
    edges.emplace_back(node_number(ends[0], "option --graph"), node_number(ends[1], "option --graph"));
  }
  return edges;
}

Edges file_edges(const std::string& path) {
  Edges edges;
  int line = 0;
  for (const auto& text : split_list(read_file(path, "the edge list"), '\n')) {
    const std::string where = path + ":" + std::to_string(++line);
    std::string content(trim(text.substr(0, text.find('#'))));
    std::ranges::replace_if(content, [](char c) { return c == ',' || c == '\t' || c == '-'; }, ' ');
    if (content.empty()) continue;
    std::vector<std::string> ends;
    for (const auto& part : split_list(content, ' '))
      if (!part.empty()) ends.push_back(part);
    if (ends.size() != 2)
      throw Error({.what = "an edge is two node numbers",
                   .value = "'" + text + "'",
                   .allowed = "0 1",
                   .where = where,
                   .fix = "write one edge a line, e.g. 0 1"});
    edges.emplace_back(node_number(ends[0], where), node_number(ends[1], where));
  }
  return edges;
}

}  // namespace

Graph::Graph(int nodes, const Edges& edges) : neighbours_(static_cast<std::size_t>(nodes)) {
  expects(nodes >= 1, "at least one node");
  for (const auto& [i, j] : edges) {
    for (const int end : {i, j})
      if (end < 0 || end >= nodes)
        throw Error({.what = "the graph names node " + std::to_string(end) + " but there are " + std::to_string(nodes) +
                             " nodes",
                     .allowed = "0 to " + std::to_string(nodes - 1),
                     .where = "option --graph",
                     .fix = "set --nodes, or number nodes from 0"});
    if (i == j)
      throw Error({.what = "a node is not its own neighbour",
                   .value = "edge " + std::to_string(i) + "-" + std::to_string(j),
                   .where = "option --graph",
                   .fix = "remove this edge"});
    neighbours_[static_cast<std::size_t>(i)].push_back(j);
    neighbours_[static_cast<std::size_t>(j)].push_back(i);
  }
  for (auto& list_of : neighbours_) {
    std::ranges::sort(list_of);
    list_of.erase(std::unique(list_of.begin(), list_of.end()), list_of.end());
  }
  const auto parts = components(neighbours_);
  if (parts.size() > 1) {
    std::vector<std::string> names;
    for (const auto& part : parts) names.push_back(list(part));
    throw Error({.what = "the graph is not connected: it falls into " + std::to_string(parts.size()) + " components",
                 .value = join(names, ", "),
                 .where = "option --graph",
                 .fix = "add an edge between the components; without one the nodes cannot agree"});
  }
}

std::vector<int> Graph::degrees() const {
  std::vector<int> result;
  for (int i = 0; i < nodes(); ++i) result.push_back(degree(i));
  return result;
}

Edges Graph::edges() const {
  Edges result;
  for (int i = 0; i < nodes(); ++i)
    for (const int j : neighbours(i))
      if (i < j) result.emplace_back(i, j);
  return result;
}

bool Graph::bipartite() const {
  std::vector<int> side(neighbours_.size(), -1), order{0};
  side[0] = 0;
  for (std::size_t k = 0; k < order.size(); ++k)
    for (const int j : neighbours(order[k])) {
      if (side[static_cast<std::size_t>(j)] == side[static_cast<std::size_t>(order[k])]) return false;
      if (side[static_cast<std::size_t>(j)] >= 0) continue;
      side[static_cast<std::size_t>(j)] = 1 - side[static_cast<std::size_t>(order[k])];
      order.push_back(j);
    }
  return true;
}

Matrix Graph::laplacian(double sign) const {
  Matrix m = Matrix::Zero(nodes(), nodes());
  for (int i = 0; i < nodes(); ++i) {
    m(i, i) = degree(i);
    for (const int j : neighbours(i)) m(i, j) = sign;
  }
  return m;
}

namespace {

const std::vector<std::string>& shapes() {
  static const std::vector<std::string> names = {"ring", "path", "star", "complete", "grid", "random", "small-world"};
  return names;
}

}  // namespace

std::vector<Option> option_rows(GraphOptions& o) {
  std::vector<std::string> words = shapes();
  words.emplace_back("auto");
  return {
      {"graph", "G",
       "ring, path, star, complete, grid, random, small-world, an inline list 0-2,0-3,2-3, or an edge-list file; auto: "
       "a ring of peers, all pairs for newton and dp-gd, and for the star family the trainer with every provider",
       any_text("a shape, edges, or a file", words), &o.graph, "network", Shown::to_anyone},
      {"edge-probability", "", "random: probability of each edge", between(0, 1), &o.edge_probability, "network",
       Shown::to_anyone},
      {"ring-neighbours", "", "small-world: neighbours on the ring before rewiring", at_least(2), &o.ring_neighbours,
       "network", Shown::to_anyone},
      {"rewiring", "", "small-world: probability that an edge is rewired", between(0, 1), &o.rewiring, "network",
       Shown::to_anyone},
      {"graph-seed", "", "public seed of random graphs", at_least(0), &o.graph_seed, "network", Shown::to_anyone},
  };
}

Graph complete_graph(int nodes) {
  return {nodes, complete(nodes)};
}

std::vector<int> distances(const Graph& graph, int from) {
  std::vector<int> steps(static_cast<std::size_t>(graph.nodes()), -1), found = {from};
  steps[static_cast<std::size_t>(from)] = 0;
  for (std::size_t next = 0; next < found.size(); ++next)
    for (const int j : graph.neighbours(found[next]))
      if (int& there = steps[static_cast<std::size_t>(j)]; there < 0) {
        there = steps[static_cast<std::size_t>(found[next])] + 1;
        found.push_back(j);
      }
  return steps;
}

std::vector<int> groups_without(const Graph& graph, int node) {
  std::vector<int> sizes;
  std::vector<bool> seen(static_cast<std::size_t>(graph.nodes()), false);
  seen[static_cast<std::size_t>(node)] = true;
  for (const int first : graph.neighbours(node)) {
    if (seen[static_cast<std::size_t>(first)]) continue;
    std::vector<int> found = {first};
    seen[static_cast<std::size_t>(first)] = true;
    for (std::size_t next = 0; next < found.size(); ++next)
      for (const int j : graph.neighbours(found[next]))
        if (!seen[static_cast<std::size_t>(j)]) found.push_back(j), seen[static_cast<std::size_t>(j)] = true;
    sizes.push_back(static_cast<int>(found.size()));
  }
  std::ranges::sort(sizes, std::greater{});
  return sizes;
}

std::vector<int> heard_by(const Graph& graph, bool passed_on, int node) {
  if (!passed_on) return graph.neighbours(node);
  std::vector<int> others;
  for (int i = 0; i < graph.nodes(); ++i)
    if (i != node) others.push_back(i);
  return others;
}

Graph trainer_star(int providers) {
  Edges edges;
  for (int i = 0; i < providers; ++i) edges.emplace_back(i, providers);
  return {providers + 1, edges};
}

Graph make_graph(const GraphOptions& o, int nodes) {
  PublicRandom draw(static_cast<std::uint64_t>(o.graph_seed), PublicRandom::Purpose::graph);
  if (o.graph == "ring" || o.graph == "auto") return {nodes, ring(nodes)};
  if (o.graph == "path") return {nodes, path(nodes)};
  if (o.graph == "star") return {nodes, star(nodes)};
  if (o.graph == "complete") return complete_graph(nodes);
  if (o.graph == "grid") return {nodes, grid(nodes)};
  if (o.graph == "random")
    return {nodes, until_connected(nodes, "random", "raise --edge-probability",
                                   [&] { return random_graph(nodes, o.edge_probability, draw); })};
  if (o.graph == "small-world" && o.ring_neighbours % 2 != 0)
    throw Error({.what = "neighbours on the ring come in pairs",
                 .value = std::to_string(o.ring_neighbours),
                 .allowed = "an even number",
                 .where = "option --ring-neighbours",
                 .fix = "use " + std::to_string(o.ring_neighbours + 1)});
  if (o.graph == "small-world")
    return {nodes, until_connected(nodes, "small-world", "raise --ring-neighbours", [&] {
              return small_world(nodes, static_cast<int>(o.ring_neighbours), o.rewiring, draw);
            })};
  std::error_code ignored;
  if (std::filesystem::is_regular_file(o.graph, ignored)) return {nodes, file_edges(o.graph)};
  if (!o.graph.empty() && o.graph.find_first_not_of("0123456789-, ") == std::string::npos)
    return {nodes, inline_edges(o.graph)};
  const std::string near = nearest(o.graph, shapes());
  throw Error(
      {.what = "unknown graph",
       .value = "'" + o.graph + "'",
       .allowed = join(shapes(), ", ") + ", edges such as 0-1,1-2, or an edge-list file",
       .where = "option --graph",
       .fix = near.empty() ? "check the name; if it is a file, it does not exist" : "did you mean '" + near + "'?"});
}

}  // namespace parley::network
