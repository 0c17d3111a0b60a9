#include <cmath>
#include <nlohmann/json.hpp>

#include "parley/record/files.h"
#include "parley/report/read.h"

namespace parley::report {

using nlohmann::json;
using record::member;
using record::number_in;

namespace {

// nullopt unless every round has its noise: half of it would cost less than the run did.
std::optional<NoiseOfNode> of_node(const json& told) {
  NoiseOfNode n{.moments = number_in(told, "moments"),
                .hessian = number_in(told, "hessian"),
                .spread = number_in(told, "spread"),
                .square = number_in(told, "square")};
  for (const json& some : member(told, "rounds")) {
    if (!some.is_array() || some.size() != 2 || !some[0].is_number() || !some[1].is_number()) return std::nullopt;
    const double count = some[0].get<double>(), noise = some[1].get<double>();
    if (!(count >= 1 && count <= 1e6 && count == std::floor(count) && noise > 0)) return std::nullopt;
    n.rounds.emplace_back(count, noise);
  }
  return n.rounds.empty() ? std::nullopt : std::optional(n);
}

}  // namespace

double NoiseOfNode::in_all() const {
  double all = 0;
  for (const auto& [count, noise] : rounds) all += count;
  return all;
}

void read_noise(Run& run, const json& top) {
  const json levels = member(top, "noise_levels"), used = member(top, "noise_used");
  for (std::size_t i = 0; levels.is_array() && i < levels.size() && i < run.nodes.size(); ++i)
    if (levels[i].is_number()) run.nodes[i].noise = levels[i].get<double>();
  run.noise.pair_over_own = number_in(used, "pair_over_own");
  for (const json& told : member(used, "nodes")) {
    const auto node = of_node(told);
    if (!node) return run.noise.nodes.clear();
    run.noise.nodes.push_back(*node);
  }
}

}  // namespace parley::report
