#include "parley/study/approval/planned.h"

#include <nlohmann/json.hpp>

#include "parley/run/claim.h"
#include "parley/study/approval/approval.h"

namespace parley::study {

using nlohmann::json;

json noise_facts(const StudyPlan& p) {
  json facts = json::array(), levels = json::array();
  for (const algorithm::Schedule& s : p.plan.nodes) {
    if (!p.plan.noisy()) break;
    facts.push_back(
        {{"node", s.node}, {"epsilon_planned", s.epsilon}, {"epsilon_all_others_planned", s.epsilon_all_others}});
    levels.push_back(algorithm::first_noise_level(s));
  }
  json all = {{"node_facts", facts}, {"noise_levels", levels}};
  if (json noise = run::noise_json(p.plan); !noise.is_null()) all["noise_used"] = std::move(noise);
  return all;
}

json planned_record(const Study& s, const StudyPlan& p) {
  const json canonical = canonical_json(s, p);
  const std::string hash = study_hash(canonical);
  json approvals = json::array();
  const Approvals found = read_approvals(s, hash);
  for (const Approval& a : found.valid) approvals.push_back({{"party", a.party}, {"date", a.date}, {"words", a.words}});
  json record = {
      {"format", "parley-party-1"},   {"outcome", "planned"},
      {"study", canonical},           {"study_hash", hash},
      {"run_id", run_id(hash)},       {"selection", run::to_json(p.selected)},
      {"nodes", p.plan.nodes.size()}, {"privacy", run::privacy_json(p.plan, not_private(s, p), p.plan.cost(), true)},
      {"approvals", approvals},       {"approvals_refused", found.refused.size()}};
  record.update(noise_facts(p));
  if (const json forecast = run::forecast_json(p.plan); !forecast.is_null()) record["forecast"] = forecast;
  return record;
}

}  // namespace parley::study
