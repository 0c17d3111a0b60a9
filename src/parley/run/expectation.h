// What a plan lets expect, told before anybody reads a row: which algorithm the planner chose and why, the points lost
// to privacy, and what would help. The same object in run.json, `plan --json`, `train --json` and `study check --json`,
// and the same lines on the terminal. Privacy: functions of the public plan.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "parley/algorithm/schedule.h"
#include "parley/algorithm/selection.h"

namespace parley::run {

// "newton, chosen by the planner: it loses least at a given budget"; the name alone where it was given.
std::string in_words(const algorithm::Selected& selected);

// {"algorithm", "by": "planner" or "given", "because"}
nlohmann::json to_json(const algorithm::Selected& selected);

// ν, points, range, levers; null where no forecast is known for the plan (newton_plan.h, known_of).
nlohmann::json forecast_json(const algorithm::Plan& plan);

// What it is and what it says, e.g. {"expect", "about 1.2 points …"}; empty where no forecast is known.
std::vector<std::pair<std::string, std::string>> forecast_lines(const algorithm::Plan& plan);

}  // namespace parley::run
