#include "parley/run/claim.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "parley/algorithm/newton/newton_plan.h"
#include "parley/algorithm/pricing.h"
#include "parley/base/printed.h"
#include "parley/base/text.h"
#include "parley/privacy/gaussian.h"

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

// Of a node's noise, a coordinate in its gradient of the first private round.
double in_gradient(const algorithm::Schedule& s, double dimension) {
  using algorithm::Place;
  const algorithm::PrivateRound& r = s.private_rounds.front();
  const auto of_rate = [&](double rate) {
    return std::sqrt(dimension + 1) / rate;
  };  // gamma noise: E‖b‖² = d(d + 1)/α²
  if (s.place == Place::gradient) return r.gradient_scale > 0 ? r.gradient_scale : of_rate(r.gradient_rate);
  if (s.noise == algorithm::Noise::gaussian)
    return std::max(r.objective_scale, s.place == Place::output ? r.output_scale * r.strong_convexity : 0);
  return of_rate(s.place == Place::output ? r.output_rate / r.strong_convexity : r.objective_rate);
}

std::string noise_in_words(const algorithm::Plan& plan, double nu) {
  const bool forecast = newton::known_of(plan).has_value();
  return "noise to signal " + rounded(nu) +
         (forecast ? " (0.3 and more: no better than guessing)"
          : plan.passed_on()
              ? " (of the mean gradient; less is better)"
              : " (less is better; with mr-admm on Adult 0.02 went with 2.5 points more test error, 0.006 with 1.1)");
}

json to_json(const newton::Forecast& f) {
  return {{"points", f.points},
          {"points_low", f.ranged ? json(f.low) : json()},
          {"points_high", f.ranged ? json(f.high) : json()},
          {"guessing", f.guessing}};
}

// Every charge is of Gaussian noise: then the trade-off curve of the whole run is that of N(0,1) and N(μ,1).
bool all_gaussian(const algorithm::Plan& plan) {
  return std::ranges::all_of(plan.nodes, [](const algorithm::Schedule& s) {
    return std::ranges::all_of(
        s.private_rounds, [](const algorithm::PrivateRound& r) { return r.charge.epsilon == 0 && r.charge.mu > 0; });
  });
}

// Of each private round the most that a node is charged.
std::vector<privacy::Charge> largest_charges(const algorithm::Plan& plan) {
  std::vector<privacy::Charge> most;
  for (const algorithm::Schedule& s : plan.nodes) {
    most.resize(std::max(most.size(), s.private_rounds.size()));
    for (std::size_t k = 0; k < s.private_rounds.size(); ++k) {
      const privacy::Charge& c = s.private_rounds[k].charge;
      const double colluders = c.mu_against(privacy::Against::colluders);
      most[k].epsilon = std::max(most[k].epsilon, c.epsilon);
      most[k].mu_colluders = std::max(most[k].mu_colluders.value_or(0), colluders);
      most[k].mu = std::max(most[k].mu, c.mu);
    }
  }
  return most;
}

// Rows at k parties, each time in one word: μ of shared noise adds (docs/proofs/shared-noise.md, section 5), μ² of own
// noise (docs/proofs/whole-run.md, theorem 8), ε of gamma noise.
std::string growth_of(const algorithm::Plan& plan) {
  if (plan.sharing().on()) return "k times μ, not √k";
  return all_gaussian(plan) ? "√k times μ" : "k times ε";
}

}  // namespace

std::optional<algorithm::Cost> cost_at_two_parties(const algorithm::Plan& plan) {
  if (!plan.noisy() || plan.nodes.size() < 2) return std::nullopt;
  std::vector<privacy::Charge> both = largest_charges(plan);
  const double delta = plan.nodes.front().delta;
  if (plan.sharing().on()) {
    const auto at = [&](privacy::Against whom) {
      std::vector<double> mus;
      for (const privacy::Charge& c : both) mus.push_back(c.mu_against(whom));
      return privacy::gdp_epsilon(2 * privacy::gdp_compose(mus), delta);  // 2·x is exact
    };
    return algorithm::Cost{.epsilon = at(privacy::Against::colluders), .all_others = at(privacy::Against::anybody)};
  }
  const std::vector<privacy::Charge> one = both;
  both.insert(both.end(), one.begin(), one.end());
  const double epsilon = algorithm::whole_run_epsilon(both, delta);
  return algorithm::Cost{.epsilon = epsilon, .all_others = epsilon};
}

std::string several_parties_in_words(const algorithm::Plan& plan) {
  const auto cost = cost_at_two_parties(plan);
  if (!cost) return "";
  const bool person = plan.nodes.front().rows_per_person > 0;
  return std::string(person ? "A person with rows at" : "A record that stands at") +
         " 2 of the parties loses more: ε = " + printed_epsilon(cost->epsilon) +
         (plan.sharing().on() ? ", and ε = " + printed_epsilon(cost->all_others) + " if all others pool what they know"
                              : "") +
         ". At k parties: " + growth_of(plan);
}

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
  if (plan.noisy() && plan.nodes.size() > 1) {
    const std::string whose = first.rows_per_person > 0 ? "a person with rows" : "a record that stands";
    const std::string cost = plan.sharing().on()  ? "sum of their mu, not the root of the squares"
                             : all_gaussian(plan) ? "root of the sum of the squares of their mu"
                                                  : "sum of their epsilon";
    j["several_parties"] = whose + " at several parties costs the " + cost;
  }
  if (first.rows_per_person > 0) j["rows_per_person"] = first.rows_per_person;
  if (!printed) j["epsilon_paper_absent"] = whole_run ? plan.epsilon_paper_absent() : "the run ended early";
  return j;
}

namespace {

std::string too_large(double epsilon, const std::string& against, const std::string& whom) {
  constexpr double largest = 10;
  if (epsilon <= largest) return "";
  return "NO MEANINGFUL PROTECTION: epsilon = " + printed_epsilon(epsilon) + against +
         " is above 10. The odds of any statement about a " + whom + " may change by a factor e^" +
         std::to_string(std::lround(std::ceil(std::min(epsilon, 1e9)))) + ". An epsilon of 1 or less is usual";
}

}  // namespace

std::string too_large_epsilon(double epsilon) {
  return too_large(epsilon, "", "record");
}

std::string too_large_epsilon(const algorithm::Plan& plan) {
  if (!plan.noisy()) return "";
  return too_large(std::max(plan.epsilon(), plan.epsilon_all_others()),
                   plan.sharing().on() ? " against all other parties together" : "",
                   plan.nodes.front().rows_per_person > 0 ? "person" : "record");
}

std::string in_words(const algorithm::Selected& s) {
  return s.by_planner() ? s.algorithm + ", chosen by the planner: " + s.because : s.algorithm;
}

json to_json(const algorithm::Selected& s) {
  return {{"algorithm", s.algorithm}, {"by", s.by_planner() ? "planner" : "given"}, {"because", s.because}};
}

std::optional<newton::Forecast> forecast_of(const algorithm::Plan& plan) {
  const auto known = newton::known_of(plan);
  return known ? std::optional(newton::forecast(*known)) : std::nullopt;
}

std::optional<double> noise_to_signal(const algorithm::Plan& plan) {
  if (const auto known = newton::known_of(plan)) return newton::noise_to_signal(*known);
  const algorithm::Schedule& first = plan.nodes.front();
  if (!plan.noisy() || plan.features == 0) return std::nullopt;
  const double dimension = static_cast<double>(plan.features) * first.loss.scores();
  const auto nodes = static_cast<double>(plan.nodes.size()), rounds = static_cast<double>(first.private_rounds.size());
  double square = 0;  // of a coordinate, in the sum of all nodes
  for (const algorithm::Schedule& s : plan.nodes) {
    const double one = first.sums ? s.private_rounds.front().gradient_scale * s.sharing.noise.own  // the rest cancels
                                  : in_gradient(s, dimension);
    square += one * one;
  }
  const double signal = first.sums ? first.sums->records * first.summed_loss().plain_gradient_bound()
                                   : nodes * plan.options.loss_weight * first.loss.plain_gradient_bound();
  const bool averaged = first.sums ? first.sums->average : plan.average;
  return std::sqrt(dimension * square / std::max(1.0, averaged ? rounds / 2 : 1.0)) / signal;
}

json forecast_json(const algorithm::Plan& plan) {
  const auto nu = noise_to_signal(plan);
  if (!nu) return nullptr;
  json j = {{"noise_to_signal", *nu}, {"noise_in_words", noise_in_words(plan, *nu)}};
  const auto known = newton::known_of(plan);
  if (!known) return j;
  const newton::Forecast f = newton::forecast(*known);
  j.update(to_json(f));
  j.update({{"in_words", newton::in_words(f)},
            {"guessing_below_records", newton::guessing_below(*known)},
            {"guessing_in_words", newton::guessing_in_words(*known)},
            {"levers", json::array()}});
  for (const newton::Lever& lever : newton::levers(*known)) {
    json one = to_json(lever.then);
    one["lever"] = lever.what;
    if (lever.epsilon_all_others > 0) one["epsilon_all_others"] = lever.epsilon_all_others;
    j["levers"].push_back(one);
  }
  return j;
}

std::vector<std::pair<std::string, std::string>> forecast_lines(const algorithm::Plan& plan) {
  std::vector<std::pair<std::string, std::string>> lines;
  const auto nu = noise_to_signal(plan);
  if (nu) lines.emplace_back("noise", noise_in_words(plan, *nu));
  if (const auto known = newton::known_of(plan)) {
    lines.emplace_back("expect", newton::in_words(newton::forecast(*known)));
    lines.emplace_back("limit", newton::guessing_in_words(*known));
    lines.emplace_back("would help", newton::levers_in_words(*known));
  } else if (const std::string why = newton::why_no_forecast(plan); !why.empty()) {
    lines.emplace_back("expect", why);
  }
  return lines;
}

}  // namespace parley::run
