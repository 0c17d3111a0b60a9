#include "parley/run/compare.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "parley/base/csv.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/record/record.h"
#include "parley/run/claim.h"
#include "parley/run/export/outside_results.h"

namespace parley::run {
namespace {

using nlohmann::json;

void note(const Summary& s, Cell& cell, Comparison& all) {
  const auto over = [&](auto of) {
    Spread spread{.mean = 0, .low = of(s.runs[0]), .high = of(s.runs[0])};
    for (const Result& r : s.runs) {
      spread.mean += of(r) / static_cast<double>(s.runs.size());
      spread.low = std::min(spread.low, of(r));
      spread.high = std::max(spread.high, of(r));
    }
    return spread;
  };
  const bool tested = s.simulation.test_rows > 0;
  cell.runs = s.runs.size();
  cell.selected = s.simulation.selected;
  cell.expected = forecast_of(s.simulation.plan);
  cell.delta = s.simulation.plan.nodes[0].delta;
  cell.rounds = s.simulation.plan.options.rounds;
  cell.private_rounds = s.simulation.plan.nodes[0].private_rounds.size();
  cell.train_loss = over([](const Result& r) { return *r.last().train_loss; });
  if (tested) cell.test_error = over([](const Result& r) { return *r.last().test_error; });
  const bool balanced =
      std::ranges::all_of(s.runs, [](const Result& r) { return r.quality && r.quality->balanced_error.has_value(); });
  if (balanced) cell.balanced_error = over([](const Result& r) { return *r.quality->balanced_error; });
  for (const Result& r : s.runs) {
    cell.epsilon = std::max(cell.epsilon, r.epsilon);
    if (r.outcome == Outcome::diverged) ++cell.diverged;
  }
  cell.record = s.record;
  all.nodes = s.simulation.parties();
  all.classifies = s.simulation.problems[0].loss.classifies();
  all.data = s.simulation.holdings.name;
  all.train_loss_nonprivate = s.simulation.train_loss_nonprivate;
  if (tested) all.test_error_nonprivate = s.simulation.test_error_nonprivate;
  if (tested) all.test_error_guessing = s.simulation.test_error_guessing;
  const auto& weights = s.simulation.plan.options.class_weight;
  if (weights != algorithm::ClassWeight::none) all.class_weight = weights.text;
  if (weights == algorithm::ClassWeight::balanced)
    for (const double share : s.simulation.plan.options.class_share) all.class_weight += " at share " + number(share);
  if (balanced) all.balanced_error_guessing = s.runs[0].quality->baseline_balanced_error;
  if (balanced && s.simulation.quality_nonprivate)
    all.balanced_error_nonprivate = s.simulation.quality_nonprivate->balanced_error;
  all.not_private = s.simulation.not_private;
  all.adjacency = s.simulation.adjacency;
  all.rows_per_person = s.simulation.unit.rows_per_person;
}

json spread_json(const Spread& s) {
  return {{"mean", s.mean}, {"min", s.low}, {"max", s.high}};
}

}  // namespace

Comparison compare(const Contest& contest, const ContestHooks& hooks) {
  record::check_vacant(contest.out);
  Comparison all;
  std::optional<Error> refusal;
  for (const std::string& algorithm : contest.algorithms)
    for (const double budget : contest.budgets) all.cells.push_back({.algorithm = algorithm, .budget = budget});
  for (std::size_t i = 0; i < all.cells.size() && !all.interrupted; ++i) {
    Cell& cell = all.cells[i];
    TrainOptions o = contest.common;
    o.algorithm.algorithm = cell.algorithm;
    o.algorithm.epsilon = {cell.budget};
    o.engine.out = contest.out + "/" + cell.algorithm + "/epsilon-" + number(cell.budget);
    try {
      const Summary summary =
          train(o, {.on_start =
                        [&](const Simulation& s) {
                          record::point_latest(contest.out);
                          hooks.on_cell(i, s);
                        },
                    .on_round = [&](int repeat, const RoundMetrics& m) { hooks.on_round(i, repeat, m); },
                    .stop = hooks.stop});
      all.interrupted = summary.runs.back().outcome == Outcome::interrupted;
      if (!all.interrupted) note(summary, cell, all);
    } catch (const Error& e) {
      cell.refused = e.what();
      if (!refusal) refusal = e;
    }
    if (hooks.stop != nullptr && hooks.stop->load()) all.interrupted = true;
  }
  const auto ran = [](const Cell& c) { return c.runs > 0; };
  if (!all.interrupted && refusal && std::ranges::none_of(all.cells, ran)) throw Error(*refusal);
  return all;
}

Judged judged(const Comparison& c) {
  if (!c.class_weight.empty() && c.balanced_error_nonprivate)
    return {.by = Judged::By::balanced_error,
            .nonprivate = *c.balanced_error_nonprivate,
            .guessing = c.balanced_error_guessing};
  if (c.test_error_nonprivate)
    return {.by = Judged::By::test_error, .nonprivate = *c.test_error_nonprivate, .guessing = c.test_error_guessing};
  return {.by = Judged::By::train_loss, .nonprivate = c.train_loss_nonprivate};
}

const Spread& judged(const Comparison& c, const Cell& cell) {
  const Judged::By by = judged(c).by;
  if (by == Judged::By::balanced_error && cell.balanced_error) return *cell.balanced_error;
  return cell.test_error ? *cell.test_error : cell.train_loss;
}

std::string to_csv(const Comparison& c) {
  std::string text =
      "algorithm,budget,epsilon,delta,nodes,rounds,rounds_from_data,runs,diverged,test_error,test_error_min,"
      "test_error_max,test_error_nonprivate,train_loss,train_loss_min,train_loss_max,train_loss_nonprivate,adjacency,"
      "not_private,refused,class_weight,balanced_error,balanced_error_nonprivate,source\n";
  for (const Cell& cell : c.cells) {
    std::vector<std::string> fields = {cell.algorithm, number(cell.budget)};
    if (cell.runs == 0) {
      fields.resize(19);
      std::string why = cell.refused.empty() ? "not run: interrupted" : cell.refused;
      std::ranges::replace(why, '\n', ' ');
      fields.push_back(csv_quoted(why));
      fields.resize(23);
    } else {
      for (const double v : {cell.epsilon, cell.delta, static_cast<double>(c.nodes), static_cast<double>(cell.rounds),
                             static_cast<double>(cell.private_rounds), static_cast<double>(cell.runs),
                             static_cast<double>(cell.diverged)})
        fields.push_back(number(v));
      if (cell.test_error)
        for (const double v :
             {cell.test_error->mean, cell.test_error->low, cell.test_error->high, *c.test_error_nonprivate})
          fields.push_back(std::isfinite(v) ? number(v) : "");
      else
        fields.resize(fields.size() + 4);
      for (const double v : {cell.train_loss.mean, cell.train_loss.low, cell.train_loss.high, c.train_loss_nonprivate})
        fields.push_back(std::isfinite(v) ? number(v) : "");
      fields.push_back(record::name_of(c.adjacency));
      fields.push_back(csv_cell(join(c.not_private, "; ")));
      fields.emplace_back();
      fields.push_back(csv_cell(c.class_weight));
      fields.push_back(cell.balanced_error ? number(cell.balanced_error->mean) : "");
      fields.push_back(c.balanced_error_nonprivate ? number(*c.balanced_error_nonprivate) : "");
    }
    text += join(fields, ",") + ",parley\n";
  }
  for (const OutsideResult& r : c.outside) {
    std::vector<std::string> fields(23);
    const std::string own = "outside, " + std::string(not_checked);
    fields[0] = spreadsheet_cell(r.algorithm);
    fields[1] = fields[2] = number(r.epsilon);
    fields[3] = number(r.delta);
    fields[7] = std::to_string(r.runs);
    fields[9] = number(r.test_error.mean);
    fields[10] = number(r.test_error.low);
    fields[11] = number(r.test_error.high);
    text += join(fields, ",") + "," + csv_cell(own) + "\n";
  }
  return text;
}

json to_json(const Comparison& c) {
  json cells = json::array();
  for (const Cell& cell : c.cells) {
    json j = {{"algorithm", cell.algorithm}, {"budget", cell.budget}, {"runs", cell.runs}};
    if (!cell.refused.empty()) j["refused"] = cell.refused;
    if (cell.runs > 0)
      j.update({{"selection", to_json(cell.selected)},
                {"epsilon", cell.epsilon},
                {"delta", cell.delta},
                {"rounds", cell.rounds},
                {"rounds_from_data", cell.private_rounds},
                {"diverged", cell.diverged},
                {"test_error", cell.test_error ? spread_json(*cell.test_error) : json()},
                {"balanced_error", cell.balanced_error ? spread_json(*cell.balanced_error) : json()},
                {"train_loss", spread_json(cell.train_loss)},
                {"record", cell.record}});
    cells.push_back(j);
  }
  json outside = json::array();
  for (const OutsideResult& r : c.outside)
    outside.push_back({{"algorithm", r.algorithm},
                       {"epsilon", r.epsilon},
                       {"delta", r.delta},
                       {"runs", r.runs},
                       {"test_error", spread_json(r.test_error)},
                       {"checked_by_parley", false}});
  return {{"data", c.data},
          {"nodes", c.nodes},
          {"outside", outside},
          {"cells", cells},
          {"test_error_nonprivate", c.test_error_nonprivate ? json(*c.test_error_nonprivate) : json()},
          {"test_error_guessing", c.test_error_guessing ? json(*c.test_error_guessing) : json()},
          {"balanced_error_nonprivate", c.balanced_error_nonprivate ? json(*c.balanced_error_nonprivate) : json()},
          {"balanced_error_guessing", c.balanced_error_guessing ? json(*c.balanced_error_guessing) : json()},
          {"class_weight", c.class_weight},
          {"train_loss_nonprivate", c.train_loss_nonprivate},
          {"not_private", c.not_private},
          {"adjacency", record::name_of(c.adjacency)},
          {"adjacency_means", record::meaning_of(c.adjacency, c.rows_per_person)},
          {"unit", c.rows_per_person > 0 ? "person" : "row"},
          {"rows_per_person", c.rows_per_person},
          {"interrupted", c.interrupted}};
}

}  // namespace parley::run
