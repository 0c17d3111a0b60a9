// What a party's files say of ε. Where a claim of the run is void (record/void_claims.h), the numbers of the whole run are
// null, and so are those of each party whose claim it is: whoever reads one key alone would take a number for a claim.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "parley/record/void_claims.h"
#include "parley/study/study.h"

namespace parley::study {

using VoidClaims = std::vector<record::VoidClaim>;

// Why the claim of the run is none: what is so from the beginning, and that one is void.
std::vector<std::string> not_private(const Study& study, const StudyPlan& plan, const VoidClaims& claims);

nlohmann::json privacy_of_run(const Study& study, const StudyPlan& plan, const VoidClaims& claims);
// "privacy", "node_facts" and "noise_levels" of run.json.
nlohmann::json privacy_facts(const Study& study, const StudyPlan& plan, const VoidClaims& claims);

}  // namespace parley::study
