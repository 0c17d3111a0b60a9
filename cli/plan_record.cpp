#include "cli/plan_record.h"

#include <nlohmann/json.hpp>

#include "parley/run/claim.h"
#include "parley/run/config.h"
#include "parley/run/setting.h"

namespace parley::cli {

using nlohmann::json;

json planned_record(const algorithm::Plan& plan, const algorithm::Selected& selected, const network::Graph& graph,
                    const algorithm::Setting& setting, const network::GraphOptions& asked) {
  algorithm::Options filled = plan.options;
  network::GraphOptions chosen = asked;
  chosen.graph = run::graph_shape(asked, selected.algorithm);
  json options = run::to_json(algorithm::option_rows(filled));
  options.update(run::to_json(network::option_rows(chosen)));
  json edges = json::array(), facts = json::array(), levels = json::array();
  for (const auto& [i, j] : graph.edges()) edges.push_back({i, j});
  for (const algorithm::Schedule& s : plan.nodes) {
    const auto node = static_cast<std::size_t>(s.node);
    facts.push_back({{"node", s.node},
                     {"degree", setting.degree[node]},
                     {"epsilon_planned", s.epsilon},
                     {"epsilon_all_others_planned", s.epsilon_all_others},
                     {"records", static_cast<long>(setting.records[node])}});
    levels.push_back(algorithm::first_noise_level(s));
  }
  const auto nodes = plan.nodes.size();
  json record = {{"format", "parley-run-1"},
                 {"outcome", "planned"},
                 {"nodes", nodes},
                 {"trainer", plan.star() ? json(nodes) : json()},
                 {"features", setting.features > 0 ? json(setting.features) : json()},
                 {"edges", edges},
                 {"node_facts", facts},
                 {"noise_levels", levels},
                 {"released", run::released_json(plan, std::max(1L, setting.features), nodes)},
                 {"selection", run::to_json(selected)},
                 {"privacy", run::privacy_json(plan, run::noise_stamps(plan, {}), plan.cost(), true)},
                 {"options", options}};
  if (json noise = run::noise_json(plan); !noise.is_null()) record["noise_used"] = std::move(noise);
  if (const json forecast = run::forecast_json(plan); !forecast.is_null()) record["forecast"] = forecast;
  return record;
}

}  // namespace parley::cli
