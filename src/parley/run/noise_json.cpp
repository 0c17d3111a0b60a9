#include <algorithm>
#include <nlohmann/json.hpp>

#include "parley/algorithm/noise_used.h"
#include "parley/run/claim.h"

namespace parley::run {

using nlohmann::json;

namespace {

// Rounds of the same noise stand together, as [how many, noise].
json to_json(const algorithm::NoiseUsed& used) {
  json rounds = json::array();
  for (const double level : used.rounds)
    if (!rounds.empty() && rounds.back()[1] == level)
      rounds.back()[0] = rounds.back()[0].get<int>() + 1;
    else
      rounds.push_back({1, level});
  json j = {{"rounds", rounds}};
  for (const auto& [name, noise] : {std::pair("moments", used.moments), std::pair("hessian", used.hessian),
                                    std::pair("spread", used.spread), std::pair("square", used.square)})
    if (noise > 0) j[name] = noise;
  return j;
}

}  // namespace

json noise_json(const algorithm::Plan& plan) {
  constexpr std::size_t most_rounds = 1'000'000;  // of all nodes: what is longer is of no use to a reader
  if (!plan.noisy() || plan.nodes.size() * plan.nodes.front().private_rounds.size() > most_rounds) return nullptr;
  std::vector<algorithm::NoiseUsed> all;
  for (const algorithm::Schedule& s : plan.nodes) all.push_back(algorithm::noise_used(s));
  if (std::ranges::all_of(all, [&](const auto& one) { return one == all[0]; })) all.resize(1);
  json nodes = json::array();
  for (const auto& one : all) nodes.push_back(to_json(one));
  json j = {{"nodes", nodes}};
  if (const auto pairs = algorithm::pair_noise(plan)) j["pair_over_own"] = pairs->over_own;
  return j;
}

}  // namespace parley::run
