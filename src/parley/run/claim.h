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

// "released" of run.json: what a round of so many nodes in released.f64 is.
nlohmann::json released_json(const algorithm::Plan& plan, Index dimension, std::size_t nodes);

// Of a run that has spent `epsilon`; unless it was the whole planned run, there is no printed bound to compare with.
// not_private: why the claim is none. Parties hold their own rows, so nothing of theirs is dealt.
nlohmann::json privacy_json(const algorithm::Plan& plan, const std::vector<std::string>& not_private, double epsilon,
                            bool whole_run, record::Adjacency adjacency = record::Adjacency::replace_one);

}  // namespace parley::run
