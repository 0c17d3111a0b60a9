// model.json of a party: the same text at every party of a completed run, so it follows from the study alone and the
// weights; where a claim of the run is void, it says so.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "parley/algorithm/newton/newton_final.h"
#include "parley/base/vector.h"
#include "parley/run/intervals/coefficients.h"
#include "parley/study/study.h"
#include "parley/study/void_epsilon.h"

namespace parley::study {

// estimate: of a run with intervals that is complete; else null.
nlohmann::json model_json(const Study& study, const StudyPlan& plan, const Vector& weights, const std::string& outcome,
                          const VoidClaims& claims, const algorithm::newton::Estimate* estimate = nullptr);
std::vector<run::Coefficient> coefficients_of(const Study& study, const algorithm::newton::Estimate* estimate);

}  // namespace parley::study
