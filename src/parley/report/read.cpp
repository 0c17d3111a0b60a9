#include "parley/report/read.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "parley/base/error.h"
#include "parley/record/files.h"
#include "parley/record/record.h"
#include "parley/report/party/read_party.h"
#include "parley/report/plain_text.h"
#include "parley/report/released.h"

namespace parley::report {

using nlohmann::json;
using record::member;
using record::number_in;
using record::text_in;
namespace fs = std::filesystem;

namespace {

constexpr int most_nodes = 1'000'000;

void read_options(Run& run, const json& options) {
  if (!options.is_object()) return run.faults.push_back("run.json has no options");
  for (const auto& [name, value] : options.items()) {
    run.options[name] = plain_text(value);
    run.exact[name] = exact_text(value);
  }
}

void read_guarantee(Run& run, const json& privacy, const std::string& split) {
  Guarantee& g = run.guarantee;
  g.epsilon = number_in(privacy, "epsilon");
  g.epsilon_planned = number_in(privacy, "epsilon_planned");
  g.epsilon_paper = number_in(privacy, "epsilon_paper");
  if (const double all = number_in(privacy, "epsilon_all_others"); all > g.epsilon) {
    g.epsilon_colluders = std::isnan(g.epsilon_planned) ? g.epsilon : std::max(g.epsilon, g.epsilon_planned);
    g.colluders = text_in(privacy, "against");
    g.epsilon = all;
    g.epsilon_planned = number_in(privacy, "epsilon_all_others_planned");
  }
  g.delta = number_in(privacy, "delta");
  g.theorem = text_in(privacy, "theorem");
  g.bound = text_in(privacy, "bound");
  g.trade_off = text_in(privacy, "trade_off") == "gaussian" ? TradeOff::gaussian : TradeOff::any;
  g.not_covered = text_in(privacy, "not_covered");
  g.adjacency = record::adjacency_told(text_in(privacy, "adjacency"), split);
  const double rows = number_in(privacy, "rows_per_person");  // fails closed: the price of more covers one record
  if (text_in(privacy, "unit") == "person" && rows >= 1 && rows <= 1e6) g.rows_per_person = static_cast<long>(rows);
  g.stamp = text_in(privacy, "stamp");
  const bool says_so = member(privacy, "private") == json(true);
  const bool numbers =
      std::isfinite(run.covered_epsilon()) && run.covered_epsilon() >= 0 && g.delta >= 0 && g.delta < 1;
  if (g.stamp.empty() && !says_so) g.stamp = "NOT PRIVATE: the record does not say that it is";
  if (g.stamp.empty() && !numbers) g.stamp = "NOT PRIVATE: the record has no privacy loss";
  g.holds = g.stamp.empty();
}

}  // namespace

void read_in_force(Run& run, const json& top) {
  const json in_force = member(top, "in_force");
  for (const auto& [name, value] : in_force.items())
    if (run.options.contains(name)) run.options[name] = plain_text(value);
  for (const char* name : {"step-size", "curvature", "diameter"})  // the plan fills in what the algorithm has
    if (run.option(name) == "auto") run.options[name] = "not used";
  for (const char* name : {"delimiter", "format"})
    if (run.option(name) == "auto") run.options[name] = "as found in the file";
}

void read_coefficients(Run& run, const json& top) {
  constexpr std::size_t most = 2000;
  for (const json& one : member(top, "coefficients")) {
    if (run.coefficients.size() == most) return;
    CoefficientRow row{.name = text_in(one, "name")};
    if (member(one, "identified") == json(true)) {
      row.estimate = number_in(one, "estimate");
      row.standard_error = number_in(one, "standard_error");
      row.sampling = number_in(one, "standard_error_sampling");
      row.low = number_in(one, "low");
      row.high = number_in(one, "high");
      row.p_value = number_in(one, "p_value");
    }
    run.coefficients.push_back(row);
  }
}

void read_worth(Metrics& m, const json& measured) {
  m.auc = number_in(measured, "auc");
  m.balanced_error = number_in(measured, "balanced_error");
  m.balanced_error_guessing = number_in(measured, "baseline_balanced_error");
  m.r_squared = number_in(measured, "r_squared");
  m.verdict = text_in(measured, "verdict");
  if (const json no_better = member(member(measured, "verdict_tests"), "no_better_than_guessing");
      no_better.is_boolean())
    m.no_better = no_better.get<bool>();
  constexpr std::size_t most = 1000;
  for (const json& bin : member(measured, "calibration")) {
    const CalibrationBin one{.rows = number_in(bin, "rows"),
                             .predicted = number_in(bin, "predicted"),
                             .observed = number_in(bin, "observed")};
    if (one.rows > 0 && std::isfinite(one.predicted) && std::isfinite(one.observed) && m.calibration.size() < most)
      m.calibration.push_back(one);
  }
  const auto share = [](const json& value) { return value.is_number() && value >= 0 && value <= 1; };
  for (const json& point : member(measured, "roc"))
    if (point.is_array() && point.size() == 2 && share(point[0]) && share(point[1]) && m.roc.found.size() < most) {
      m.roc.false_alarms.push_back(point[0].get<double>());
      m.roc.found.push_back(point[1].get<double>());
    }
}

void read_expected(Run& run, const json& top) {
  const json selection = member(top, "selection"), forecast = member(top, "forecast");
  const auto points = [](const json& f, const std::string& range) {
    return member(f, "guessing") == json(true)     ? "no better than guessing"
           : std::isfinite(number_in(f, "points")) ? fmt::format("{:.2g}", number_in(f, "points")) + range
                                                   : "";
  };
  if (text_in(selection, "by") == "planner") run.expected.chosen = text_in(selection, "because");
  if (!forecast.is_object()) return;
  run.expected.forecast = text_in(forecast, "in_words");
  run.expected.noise = text_in(forecast, "noise_in_words");
  run.expected.limit = text_in(forecast, "guessing_in_words");
  const double low = number_in(forecast, "points_low"), high = number_in(forecast, "points_high");
  run.expected.points = points(forecast, std::isfinite(low) ? fmt::format(" ({:.2g} to {:.2g})", low, high) : "");
  for (const json& lever : member(forecast, "levers"))
    run.expected.levers.push_back({text_in(lever, "lever"), points(lever, ""), number_in(lever, "epsilon_all_others")});
}

namespace {

void read_nodes(Run& run, const json& top) {
  const double nodes = number_in(top, "nodes");
  if (!(nodes >= 1 && nodes <= most_nodes)) return run.faults.push_back("run.json has no number of nodes");
  run.star = number_in(top, "trainer") == nodes;  // it is the last one
  run.nodes.resize(static_cast<std::size_t>(nodes) + (run.star ? 1 : 0));
  if (run.star) run.nodes.back().trainer = true;
  const json facts = member(top, "node_facts");
  for (const json& fact : facts) {
    const double node = number_in(fact, "node");
    if (!(node >= 0 && node < nodes)) continue;
    Node& n = run.nodes[static_cast<std::size_t>(node)];
    n.degree = number_in(fact, "degree");
    n.records = number_in(fact, "records");
    n.epsilon = std::fmax(number_in(fact, "epsilon_planned"), number_in(fact, "epsilon_all_others_planned"));
  }
  read_noise(run, top);
  for (const json& edge : member(top, "edges"))
    if (edge.is_array() && edge.size() == 2 && edge[0].is_number_unsigned() && edge[1].is_number_unsigned() &&
        edge[0].get<std::uint64_t>() < run.nodes.size() && edge[1].get<std::uint64_t>() < run.nodes.size())
      run.edges.emplace_back(edge[0].get<int>(), edge[1].get<int>());
}

}  // namespace

void read_rounds(Run& run, const fs::path& folder, Audience audience, const Stretch& stretch) {
  record::RoundLines lines(folder);
  const std::string place = stretch.part == 1 ? "" : record::folder_of_part(stretch.part) + "/";
  if (!lines.there()) return run.faults.push_back(place + "rounds.jsonl is missing");
  std::string text;
  json all;
  const auto broken = [&] {
    run.faults.push_back(place + "rounds.jsonl: line " + std::to_string(lines.number()) +
                         " is broken; what follows is left out");
  };
  while (lines.next(text, all)) {
    const json j = record::visible(record::File::rounds, all, audience, nullptr);
    const double round = number_in(j, "round");
    if (!(round >= 0 && round < 1e9)) return broken();
    Round r{.round = stretch.before + static_cast<int>(round),
            .part = stretch.part,
            .in_part = static_cast<int>(round),
            .kind = record::kind_named(text_in(j, "kind")),
            .epsilon = std::fmax(number_in(j, "epsilon"), number_in(j, "epsilon_all_others")),
            .disagreement = run.guarantee.holds || audience == Audience::owner ? number_in(j, "disagreement") : absent,
            .train_loss = number_in(member(j, "private"), "train_loss"),
            .test_error = number_in(member(j, "private"), "test_error")};
    if (j.contains("stamp") && run.guarantee.holds) {
      run.guarantee.holds = false;
      run.guarantee.stamp = "NOT PRIVATE: a round of it says so";
      r.disagreement = audience == Audience::owner ? r.disagreement : absent;
    }
    if (r.in_part < stretch.from || r.in_part > stretch.through) continue;
    run.rounds_done = r.round;
    run.rounds.push_back(r);
  }
  if (lines.broken()) broken();
}

void read_common(Run& run, const Source& source, const json& options) {
  run.outcome = text_in(source.run, "outcome");
  if (run.outcome.empty()) run.faults.push_back("run.json has no outcome");
  run.identity = source.identity;
  run.options_hidden = source.options_hidden;
  read_options(run, options);
  read_guarantee(run, member(source.run, "privacy"), source.split);
  if (run.guarantee.holds && source.seeded) {  // the stamp was lost
    run.guarantee.holds = false;
    run.guarantee.stamp = "NOT PRIVATE: noise from a seed";
  }
}

namespace {

Run read_simulation(const Sources& sources, Audience audience) {
  const json& top = sources[0].run;
  Run run;
  read_common(run, sources[0], member(top, "options"));
  run.data = text_in(top, "data");
  // As it was, not as it was left open; how many rows to generate says nothing about a file.
  for (const char* name : {"nodes", "features"})
    if (run.options.contains(name)) run.options[name] = plain_text(member(top, name));
  if (run.option("data") != "census") run.options.erase("rows");
  read_in_force(run, top);
  run.features = number_in(top, "features");
  for (const json& warning : member(top, "warnings"))
    if (warning.is_string()) run.warnings.push_back(warning.get<std::string>());
  read_expected(run, top);
  read_coefficients(run, top);
  read_nodes(run, top);
  const auto shape = record::shape_of(top);
  run.sums = shape && shape->sums;
  if (run.planned()) return run;
  read_rounds(run, sources[0].folder, audience);
  if (run.sums)  // what is left of their disagreement is rounding
    for (Round& r : run.rounds) r.disagreement = absent;
  const json measured = member(top, "private");
  run.metrics = {.test_error = number_in(measured, "test_error"),
                 .test_error_pooled = number_in(measured, "test_error_nonprivate"),
                 .train_loss = number_in(measured, "train_loss"),
                 .train_loss_pooled = number_in(measured, "train_loss_nonprivate"),
                 .test_error_guessing = number_in(measured, "test_error_guessing")};
  read_worth(run.metrics, measured);
  return run;
}

// Sizes, the number of nodes and all that is planned from them (penalties, noise) are public where rows are dealt
// without looking at them. Otherwise they are counts of private values, and no ε covers them: then nothing of the plan
// may be shown, and a page without it would say nothing.
void check_shareable(const Run& run, const fs::path& folder) {
  if (!run.guarantee.as_dealt()) return;
  throw Error(
      {.what = "there is no shareable page of this run: its split read rows to deal them, or its record does not "
               "say otherwise. Then sizes, penalties and noise follow from private values, and no epsilon "
               "covers them",
       .value = "adjacency '" + record::name_of(run.guarantee.adjacency) + "'",
       .allowed = "'" + record::name_of(record::Adjacency::replace_one) + "'",
       .where = folder.string(),
       .fix = "--private makes the page for the owner of the rows; for a page to share, train with --split even, "
              "shares or power, or with one file per node"});
}

Run read_run(const Sources& sources, Audience audience) {
  const json& top = sources[0].run;
  const std::string format = text_in(top, "format");
  Run run;
  if (format == "parley-run-1")
    run = read_simulation(sources, audience);
  else if (format == "parley-party-1")
    run = read_party(sources, audience);
  else
    run.faults.push_back(top.is_null()
                             ? "run.json cannot be read: it is no regular file, not JSON, too large or too deep"
                             : "run.json is not of a format that this version knows");
  if (run.guarantee.stamp.empty() && !run.guarantee.holds)
    run.guarantee.stamp = "NOT PRIVATE: the record cannot be read";
  if (audience == Audience::owner)
    run.place = sources[0].folder.string();
  else
    check_shareable(run, sources[0].folder);
  if (run.planned()) return run;
  // What a run without a guarantee released is covered by nothing.
  if (run.guarantee.holds || audience == Audience::owner) add_released(run, sources);
  return run;
}

}  // namespace

double Run::covered_epsilon() const {
  if (completed()) return guarantee.epsilon;
  return std::isnan(guarantee.epsilon) ? guarantee.epsilon_planned
                                       : std::max(guarantee.epsilon, guarantee.epsilon_planned);
}

long Run::planned_rounds() const {
  const long main = std::atol(option("rounds").c_str());
  // of intervals, between the planned rounds and the model; the squared loss has no other
  const bool last = with_intervals() && option("loss") != "squared";
  return main <= 0 ? 0 : star ? 2 * main : sums ? main + (last ? 2 : 1) : main;
}

bool Run::with_intervals() const {
  return option("intervals") == "true" || option("intervals") == "yes";
}

std::string Run::option(const std::string& name) const {
  const auto found = options.find(name);
  return found == options.end() || found->second == "–" ? "" : found->second;
}

Run read_planned(const json& record, const View& view) {
  return read_run({source_from(record, "", view)}, view.audience);
}

std::vector<Run> read_runs(const std::vector<fs::path>& folders, const View& view) {
  std::vector<Run> runs;
  for (const Sources& sources : find_runs(folders, view)) runs.push_back(read_run(sources, view.audience));
  return runs;
}

}  // namespace parley::report
