// model.json of a party: the same text at every party of a completed run, so it follows from the study alone and the
// weights.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "parley/base/vector.h"
#include "parley/study/study.h"

namespace parley::study {

nlohmann::json model_json(const Study& study, const StudyPlan& plan, const Vector& weights, const std::string& outcome);

}  // namespace parley::study
