#include <algorithm>
#include <nlohmann/json.hpp>

#include "parley/privacy/pure.h"
#include "parley/run/claim.h"
#include "parley/run/quality/quality.h"
#include "parley/run/simulate.h"

namespace parley::run {

using nlohmann::json;

namespace {

// The figures of the only run; of several runs each number as mean and range, and the rest as a list.
json quality_of(const Summary& s, bool alone) {
  json all = json::object();
  for (const Result& r : s.runs) {
    if (!r.quality) continue;
    const json one = to_json(*r.quality, class_names(s.simulation.holdings.schema_toml, s.simulation.holdings.classes));
    if (alone) return one;
    for (const auto& [key, value] : one.items()) all[key].push_back(value);
  }
  for (auto& [key, values] : all.items())
    if (std::ranges::all_of(values, [](const json& v) { return v.is_number(); })) {
      double sum = 0;
      for (const json& v : values) sum += v.get<double>();
      values = {{"mean", sum / static_cast<double>(values.size())},
                {"min", *std::ranges::min_element(values)},
                {"max", *std::ranges::max_element(values)}};
    }
  return all;
}

}  // namespace

json to_json(const Summary& s, const TrainOptions& o) {
  const auto over_runs = [&](auto of) -> json {
    std::vector<double> values;
    for (const Result& r : s.runs)
      if (const std::optional<double> v = of(r)) values.push_back(*v);
    if (values.empty()) return nullptr;
    if (o.engine.repeat == 1) return values[0];
    double sum = 0;
    for (const double v : values) sum += v;
    return {{"mean", sum / static_cast<double>(values.size())},
            {"min", *std::ranges::min_element(values)},
            {"max", *std::ranges::max_element(values)}};
  };
  double seconds = 0;
  algorithm::Cost spent;
  privacy::UpwardSum all_runs, all_others_all_runs;
  for (const Result& r : s.runs) {
    seconds += r.seconds;
    spent.epsilon = std::max(spent.epsilon, r.epsilon);
    spent.all_others = std::max(spent.all_others, r.epsilon_all_others);
    all_runs.add(r.epsilon);
    all_others_all_runs.add(r.epsilon_all_others);
  }
  json nodes = json::array();
  for (const NodeSummary& n : s.runs.back().nodes)
    nodes.push_back({{"node", n.node},
                     {"degree", n.degree},
                     {"records", n.records},
                     {"epsilon", s.simulation.plan.noisy() ? json(n.epsilon) : json()},
                     {"epsilon_all_others", s.simulation.plan.noisy() ? json(n.epsilon_all_others) : json()},
                     {"epsilon_paper", n.epsilon_paper ? json(*n.epsilon_paper) : json()},
                     {"train_loss", n.train_loss},
                     {"distance", n.distance}});
  const bool tested = s.simulation.test_rows > 0;
  json j = privacy_json(s.simulation, spent, s.runs.back().outcome == Outcome::completed);
  j.update({{"algorithm", s.simulation.selected.algorithm},
            {"selection", to_json(s.simulation.selected)},
            {"forecast", forecast_json(s.simulation.plan)},
            {"data", s.simulation.holdings.name},
            {"nodes", s.simulation.parties()},
            {"features", s.simulation.holdings.test.features},
            {"rounds", s.simulation.plan.options.rounds},
            {"private_rounds", s.simulation.plan.nodes[0].private_rounds.size()},
            {"outcome", name_of(s.runs.back().outcome)},
            {"test_error", over_runs([](const Result& r) { return r.last().test_error; })},
            {"test_error_nonprivate", tested ? json(s.simulation.test_error_nonprivate) : json()},
            {"test_error_guessing", tested ? json(s.simulation.test_error_guessing) : json()},
            {"train_loss", over_runs([](const Result& r) { return r.last().train_loss; })},
            {"train_loss_nonprivate", s.simulation.train_loss_nonprivate},
            {"disagreement", over_runs([](const Result& r) { return std::optional(r.last().disagreement); })},
            {"distance_to_optimum", over_runs([&](const Result& r) -> std::optional<double> {
               if (s.simulation.optimum.size() == 0) return std::nullopt;
               return (r.mean - s.simulation.optimum).norm();
             })},
            {"seeded", o.engine.seed.has_value()},
            {"repeat", s.runs.size()},
            {"epsilon_all_runs",
             s.simulation.plan.noisy() ? json(all_runs.value()) : json()},  // for whoever sees every repeat
            {"epsilon_all_others_all_runs", s.simulation.plan.noisy() ? json(all_others_all_runs.value()) : json()},
            {"seconds", seconds},
            {"node_results", nodes},
            {"warnings", s.simulation.plan.warnings},
            {"record", s.record}});
  if (!s.runs.back().coefficients.empty()) {  // of the last run; each one's stand in its own record
    j["coefficients"] = to_json(s.runs.back().coefficients);
    j["coefficients_assume"] = assumptions_of_intervals(s.simulation.plan);
  }
  j.update(quality_of(s, o.engine.repeat == 1));
  return j;
}

}  // namespace parley::run
