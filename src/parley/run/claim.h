// The privacy claim of a run as it is written down: the same object in run.json, model.json and `train --json`.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "parley/algorithm/schedule.h"
#include "parley/record/adjacency.h"

namespace parley::run {

// Why a claim is none because of its noise: there is none, or it can be repeated. Empty: nothing against it.
std::vector<std::string> noise_stamps(const algorithm::Plan& plan, std::optional<std::uint64_t> seed);

// Of a run that has spent so much; unless it was the whole planned run, there is no printed bound to compare with.
// not_private: why the claim is none. Parties hold their own rows, so nothing of theirs is dealt.
nlohmann::json privacy_json(const algorithm::Plan& plan, const std::vector<std::string>& not_private,
                            const algorithm::Cost& spent, bool whole_run,
                            record::Adjacency adjacency = record::Adjacency::replace_one);

// "all other parties together", or "any 25 of the 100 parties together, and whoever sees every message".
std::string against_whom(const privacy::Sharing& sharing);

}  // namespace parley::run
