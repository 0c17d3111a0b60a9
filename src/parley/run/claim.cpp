#include "parley/run/claim.h"

#include <nlohmann/json.hpp>

#include "parley/base/text.h"

namespace parley::run {

using nlohmann::json;

namespace {

std::string stamp(const std::vector<std::string>& not_private) {
  return not_private.empty() ? "" : "NOT PRIVATE: " + join(not_private, "; ");
}

}  // namespace

std::vector<std::string> noise_stamps(const algorithm::Plan& plan, std::optional<std::uint64_t> seed) {
  if (!plan.noisy()) return {"no noise"};
  if (seed) return {"noise from seed " + std::to_string(*seed)};
  return {};
}

json released_json(const algorithm::Plan& plan, Index dimension, std::size_t nodes) {
  json shape = {{"nodes", nodes}, {"size", dimension}};
  if (plan.nodes.front().sums) shape["sums"] = true;  // over rows, before the last round; no iterates
  if (const Index first = plan.largest_size(dimension); first > dimension) shape["size_of_round_1"] = first;
  return shape;
}

json privacy_json(const algorithm::Plan& plan, const std::vector<std::string>& not_private, double spent,
                  bool whole_run, record::Adjacency adjacency) {
  const auto& first = plan.nodes.front();
  const bool printed = whole_run && plan.epsilon_paper();
  json j = {{"epsilon", plan.noisy() ? json(spent) : json()},
            {"epsilon_planned", plan.noisy() ? json(plan.epsilon()) : json()},
            {"epsilon_paper", printed ? json(*plan.epsilon_paper()) : json()},
            {"delta", plan.noisy() ? json(first.delta) : json()},
            {"bound", plan.verified_only() ? "numerically verified" : "proved"},
            {"adjacency", record::name_of(adjacency)},
            {"adjacency_means", record::meaning_of(adjacency)},
            {"theorem", plan.noisy() ? first.theorem : ""},
            {"private", not_private.empty()},
            {"stamp", stamp(not_private)}};
  if (!printed) j["epsilon_paper_absent"] = whole_run ? plan.epsilon_paper_absent() : "the run ended early";
  return j;
}

}  // namespace parley::run
