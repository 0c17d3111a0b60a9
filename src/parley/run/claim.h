// What is said of a run in its files and on the terminal, the same object everywhere: its privacy claim, which algorithm
// the planner chose, and what the plan lets expect before anybody reads a row. Privacy: functions of the public plan and
// of what was spent.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parley/algorithm/newton/forecast.h"
#include "parley/algorithm/planner.h"
#include "parley/record/adjacency.h"

namespace parley::run {

// Why a claim is none because of its noise: there is none, or it can be repeated. Empty: nothing against it.
std::vector<std::string> noise_stamps(const algorithm::Plan& plan, std::optional<std::uint64_t> seed);

// "released" of run.json: what a round of so many nodes in released.f64 is.
nlohmann::json released_json(const algorithm::Plan& plan, Index dimension, std::size_t nodes);

// "noise_used" of run.json: what it takes to compute the loss again without the budget that was asked for.
nlohmann::json noise_json(const algorithm::Plan& plan);

// Of a run that has spent so much; unless it was the whole planned run, there is no printed bound to compare with.
// not_private: why the claim is none. Parties hold their own rows, so nothing of theirs is dealt.
nlohmann::json privacy_json(const algorithm::Plan& plan, const std::vector<std::string>& not_private,
                            const algorithm::Cost& spent, bool whole_run,
                            record::Adjacency adjacency = record::Adjacency::replace_one);

// "all other parties together", or "any 25 of the 100 parties together, and whoever sees every message".
std::string against_whom(const privacy::Sharing& sharing);

// "ε 0.5000 of 1.0000" while a run is under way; where noise is shared "ε 0.5000 of 1.0000 against any 1 of the 4 parties
// together, 1.0700 of 2.1457 against all other parties together".
std::string spent_of_planned(const std::string& symbol, const algorithm::Cost& spent, const algorithm::Cost& planned,
                             const privacy::Sharing& sharing);

// What a row, or a person, costs that has rows at two of the parties: the whole planned run, of those two that cost most.
// Every other figure is for one party. nullopt: no noise, or one party.
std::optional<algorithm::Cost> cost_at_two_parties(const algorithm::Plan& plan);

// "A person with rows at 2 of the parties loses more: ε = 2.1536. With rows at k parties: k times μ": wherever a claim
// is told. Empty where there is no such cost.
std::string several_parties_in_words(const algorithm::Plan& plan);

// What a plan with ε above 10 must say first, everywhere: that it protects hardly anything. Empty: ε is not so large.
// Where noise cancels between parties, ε is that against all others together, the larger one.
std::string too_large_epsilon(const algorithm::Plan& plan);
std::string too_large_epsilon(double epsilon);

// "newton, chosen by the planner: it loses least at a given budget"; the name alone where it was given.
std::string in_words(const algorithm::Selected& selected);

// {"algorithm", "by": "planner" or "given", "because"}
nlohmann::json to_json(const algorithm::Selected& selected);

// nullopt where no forecast is known for the plan (newton_plan.h, known_of).
std::optional<algorithm::newton::Forecast> forecast_of(const algorithm::Plan& plan);

// The norm of the noise in the mean gradient, averaged over the nodes and over the rounds that the model is a mean of,
// beside the largest norm that the signal can have. newton: ν of its forecast. nullopt without noise or features.
std::optional<double> noise_to_signal(const algorithm::Plan& plan);

// ν of every algorithm with noise; where a forecast is known its points, range and levers too. null of others.
nlohmann::json forecast_json(const algorithm::Plan& plan);

// What it is and what it says, e.g. {"expect", "about 1.2 points …"}; empty where nothing is known.
std::vector<std::pair<std::string, std::string>> forecast_lines(const algorithm::Plan& plan);

}  // namespace parley::run
