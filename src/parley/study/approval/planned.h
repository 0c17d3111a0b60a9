// A study as it stands before anybody has read a row, in the form of a party's record: so that officers see the page of
// the run before they approve it. Privacy: a function of the study file, of its plan, and of the approvals beside it.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "parley/study/study.h"

namespace parley::study {

// "node_facts", "noise_levels" and "noise_used" of run.json: each party's planned ε and noise.
nlohmann::json noise_facts(const StudyPlan& plan);

nlohmann::json planned_record(const Study& study, const StudyPlan& plan);

}  // namespace parley::study
