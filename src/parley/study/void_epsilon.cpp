#include "parley/study/void_epsilon.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "parley/run/claim.h"
#include "parley/study/approval/planned.h"

namespace parley::study {

using nlohmann::json;

std::vector<std::string> not_private(const Study& study, const StudyPlan& plan, const VoidClaims& claims) {
  std::vector<std::string> why = not_private(study, plan);
  if (!claims.empty()) why.emplace_back("a party of this run may have released more than is known");
  return why;
}

json privacy_of_run(const Study& study, const StudyPlan& plan, const VoidClaims& claims) {
  json said = run::privacy_json(plan.plan, not_private(study, plan, claims), plan.plan.cost(), true);
  if (claims.empty()) return said;
  for (const char* number :
       {"epsilon", "epsilon_all_others", "epsilon_planned", "epsilon_all_others_planned", "epsilon_paper"})
    said[number] = nullptr;
  return said;
}

json privacy_facts(const Study& study, const StudyPlan& plan, const VoidClaims& claims) {
  json facts = noise_facts(plan);
  for (json& fact : facts["node_facts"]) {
    const std::string& name = study.parties[fact["node"].get<std::size_t>()].name;
    const bool is_void = std::ranges::any_of(
        claims, [&](const record::VoidClaim& one) { return one.party.empty() || one.party == name; });
    if (is_void) fact["epsilon_planned"] = fact["epsilon_all_others_planned"] = nullptr;
  }
  facts["privacy"] = privacy_of_run(study, plan, claims);
  return facts;
}

}  // namespace parley::study
