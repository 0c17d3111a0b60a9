#include "parley/run/claim.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "parley/algorithm/newton/newton_plan.h"
#include "parley/base/printed.h"
#include "parley/base/text.h"

namespace parley::run {

using nlohmann::json;
namespace newton = algorithm::newton;

namespace {

std::string stamp(const std::vector<std::string>& not_private) {
  return not_private.empty() ? "" : "NOT PRIVATE: " + join(not_private, "; ");
}

std::string rounded(double nu) {
  std::ostringstream text;
  text.precision(2);
  text << nu;
  return text.str();
}

json to_json(const newton::Forecast& f) {
  return {{"points", f.points}, {"points_low", f.low}, {"points_high", f.high}, {"guessing", f.guessing}};
}

// Every charge is of Gaussian noise: then the trade-off curve of the whole run is that of N(0,1) and N(μ,1).
bool all_gaussian(const algorithm::Plan& plan) {
  return std::ranges::all_of(plan.nodes, [](const algorithm::Schedule& s) {
    return std::ranges::all_of(
        s.private_rounds, [](const algorithm::PrivateRound& r) { return r.charge.epsilon == 0 && r.charge.mu > 0; });
  });
}

}  // namespace

std::string against_whom(const privacy::Sharing& sharing) {
  if (!sharing.on()) return "all other parties together";
  return "any " + std::to_string(sharing.colluders) + " of the " + std::to_string(sharing.parties) +
         " parties together, and whoever sees every message";
}

std::string spent_of_planned(const std::string& symbol, const algorithm::Cost& spent, const algorithm::Cost& planned,
                             const privacy::Sharing& sharing) {
  const auto of = [](double part, double whole) { return printed_epsilon(part) + " of " + printed_epsilon(whole); };
  const std::string text = symbol + " " + of(spent.epsilon, planned.epsilon);
  if (!sharing.on()) return text;
  return text + " against any " + std::to_string(sharing.colluders) + " of the " + std::to_string(sharing.parties) +
         " parties together, " + of(spent.all_others, planned.all_others) + " against all other parties together";
}

std::vector<std::string> noise_stamps(const algorithm::Plan& plan, std::optional<std::uint64_t> seed) {
  if (!plan.noisy()) return {"no noise"};
  if (seed) return {"noise from seed " + std::to_string(*seed)};
  return {};
}

json released_json(const algorithm::Plan& plan, Index dimension, std::size_t nodes) {
  json shape = {{"nodes", nodes}, {"size", dimension}};
  if (plan.nodes.front().sums) shape["sums"] = true;  // over rows, before the last round; no iterates
  if (const Index first = plan.size(0, 1, dimension); first > dimension) shape["size_of_round_1"] = first;
  if (const auto& sums = plan.nodes.front().sums; sums && sums->final.steps() > 0)
    shape.update({{"final_round", sums->rounds}, {"size_of_final_round", sums->layout(sums->rounds).size()}});
  return shape;
}

json privacy_json(const algorithm::Plan& plan, const std::vector<std::string>& not_private,
                  const algorithm::Cost& spent, bool whole_run, record::Adjacency adjacency) {
  const auto& first = plan.nodes.front();
  const bool printed = whole_run && plan.epsilon_paper();
  json j = {{"epsilon", plan.noisy() ? json(spent.epsilon) : json()},
            {"epsilon_all_others", plan.noisy() ? json(spent.all_others) : json()},
            {"against", against_whom(plan.sharing())},
            {"epsilon_planned", plan.noisy() ? json(plan.epsilon()) : json()},
            {"epsilon_all_others_planned", plan.noisy() ? json(plan.epsilon_all_others()) : json()},
            {"epsilon_paper", printed ? json(*plan.epsilon_paper()) : json()},
            {"delta", plan.noisy() ? json(first.delta) : json()},
            {"trade_off", plan.noisy() && all_gaussian(plan) ? "gaussian" : ""},
            {"bound", plan.verified_only() ? "numerically verified" : "proved"},
            {"adjacency", record::name_of(adjacency)},
            {"adjacency_means", record::meaning_of(adjacency, first.rows_per_person)},
            {"unit", first.rows_per_person > 0 ? "person" : "row"},
            {"theorem", plan.noisy() ? first.theorem : ""},
            {"private", not_private.empty()},
            {"stamp", stamp(not_private)}};
  if (plan.sharing().on())
    j["several_parties"] =
        "a person with rows at several parties costs the sum of their mu, not the root of the squares";
  else if (first.rows_per_person > 0 && plan.noisy())
    j["several_parties"] = first.noise == algorithm::Noise::gaussian
                               ? "a person with rows at several parties costs the root of the sum of the squares of "
                                 "their mu"
                               : "a person with rows at several parties costs the sum of their epsilon";
  if (first.rows_per_person > 0) j["rows_per_person"] = first.rows_per_person;
  if (!printed) j["epsilon_paper_absent"] = whole_run ? plan.epsilon_paper_absent() : "the run ended early";
  return j;
}

std::string too_large_epsilon(const algorithm::Plan& plan) {
  constexpr double largest = 10;
  const double epsilon = std::max(plan.epsilon(), plan.epsilon_all_others());
  if (!plan.noisy() || epsilon <= largest) return "";
  return "NO MEANINGFUL PROTECTION: epsilon = " + printed_epsilon(epsilon) +
         (plan.sharing().on() ? " against all other parties together" : "") +
         " is above 10. The odds of any statement about a " +
         (plan.nodes.front().rows_per_person > 0 ? "person" : "record") + " may change by a factor e^" +
         std::to_string(std::lround(std::ceil(std::min(epsilon, 1e9)))) + ". An epsilon of 1 or less is usual";
}

std::string in_words(const algorithm::Selected& s) {
  return s.by_planner() ? s.algorithm + ", chosen by the planner: " + s.because : s.algorithm;
}

json to_json(const algorithm::Selected& s) {
  return {{"algorithm", s.algorithm}, {"by", s.by_planner() ? "planner" : "given"}, {"because", s.because}};
}

std::optional<newton::Forecast> forecast_of(const algorithm::Plan& plan) {
  const auto known = newton::known_of(plan);
  return known ? std::optional(newton::forecast(newton::noise_to_signal(*known))) : std::nullopt;
}

json forecast_json(const algorithm::Plan& plan) {
  const auto known = newton::known_of(plan);
  if (!known) return nullptr;
  const double nu = newton::noise_to_signal(*known);
  const newton::Forecast f = newton::forecast(nu);
  json j = to_json(f);
  j.update({{"noise_to_signal", nu},
            {"in_words", newton::in_words(f)},
            {"guessing_below_records", newton::guessing_below(*known)},
            {"guessing_in_words", newton::guessing_in_words(*known)},
            {"levers", json::array()}});
  for (const newton::Lever& lever : newton::levers(*known)) {
    json one = to_json(lever.then);
    one["lever"] = lever.what;
    j["levers"].push_back(one);
  }
  return j;
}

std::vector<std::pair<std::string, std::string>> forecast_lines(const algorithm::Plan& plan) {
  const auto known = newton::known_of(plan);
  if (!known) {
    const std::string why = newton::why_no_forecast(plan);
    if (why.empty()) return {};
    return {{"expect", why}};
  }
  const double nu = newton::noise_to_signal(*known);
  return {{"noise", "noise to signal " + rounded(nu) + " (0.3 and more: no better than guessing)"},
          {"expect", newton::in_words(newton::forecast(nu))},
          {"limit", newton::guessing_in_words(*known)},
          {"would help", newton::levers_in_words(*known)}};
}

}  // namespace parley::run
