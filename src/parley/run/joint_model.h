// model.json of a party: the same text at every party of a completed run, so it follows from the study alone and the
// weights.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "parley/base/vector.h"
#include "parley/run/joint_study.h"

namespace parley::run {

nlohmann::json joint_model_json(const JointStudy& study, const JointPlan& plan, const Vector& weights,
                                const std::string& outcome);

}  // namespace parley::run
