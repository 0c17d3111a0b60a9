#include "parley/report/read.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "parley/report/files.h"
#include "parley/report/find.h"
#include "parley/report/read_party.h"
#include "parley/report/shareable.h"

namespace parley::report {

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr int most_nodes = 1'000'000;

void read_options(Run& run, const json& options, Audience audience) {
  // Not part of what was studied: where things are, how often and on how many threads.
  static constexpr const char* elsewhere[] = {"seed",   "out",     "resume",  "repeat",   "threads",
                                              "ledger", "dataset", "metrics", "data-dir", "engine"};
  if (!options.is_object()) return run.faults.push_back("run.json has no options");
  json same = options;
  for (const char* name : elsewhere) same.erase(name);
  run.identity = same.dump(-1, ' ', true, json::error_handler_t::replace);
  for (const auto& [name, value] : options.items())
    if (const auto text = shown_option(name, value, audience))
      run.options[name] = *text;
    else
      ++run.options_hidden;
}

void read_guarantee(Run& run, const json& privacy, const json& options) {
  Guarantee& g = run.guarantee;
  g.epsilon = number_in(privacy, "epsilon");
  g.epsilon_planned = number_in(privacy, "epsilon_planned");
  g.epsilon_paper = number_in(privacy, "epsilon_paper");
  g.delta = number_in(privacy, "delta");
  g.theorem = text_in(privacy, "theorem");
  g.bound = text_in(privacy, "bound");
  g.adjacency = record::adjacency_told(text_in(privacy, "adjacency"), text_in(options, "split"));
  g.stamp = text_in(privacy, "stamp");
  const bool says_so = member(privacy, "private") == json(true);
  const bool numbers =
      std::isfinite(run.covered_epsilon()) && run.covered_epsilon() >= 0 && g.delta >= 0 && g.delta < 1;
  if (g.stamp.empty() && !says_so) g.stamp = "NOT PRIVATE: the record does not say that it is";
  if (g.stamp.empty() && !numbers) g.stamp = "NOT PRIVATE: the record has no privacy loss";
  g.holds = g.stamp.empty();
}

void read_nodes(Run& run, const json& top) {
  const double nodes = number_in(top, "nodes");
  if (!(nodes >= 1 && nodes <= most_nodes)) return run.faults.push_back("run.json has no number of nodes");
  run.star = run.option("algorithm").starts_with("star-") || run.option("algorithm") == "dp-admm";
  run.nodes.resize(static_cast<std::size_t>(nodes) + (run.star ? 1 : 0));
  if (run.star) run.nodes.back().trainer = true;
  const json facts = member(top, "node_facts");
  for (const json& fact : facts) {
    const double node = number_in(fact, "node");
    if (!(node >= 0 && node < nodes)) continue;
    Node& n = run.nodes[static_cast<std::size_t>(node)];
    n.degree = number_in(fact, "degree");
    n.records = number_in(fact, "records");
    n.epsilon = number_in(fact, "epsilon_planned");
  }
  for (const json& edge : member(top, "edges"))
    if (edge.is_array() && edge.size() == 2 && edge[0].is_number_unsigned() && edge[1].is_number_unsigned() &&
        edge[0].get<std::uint64_t>() < run.nodes.size() && edge[1].get<std::uint64_t>() < run.nodes.size())
      run.edges.emplace_back(edge[0].get<int>(), edge[1].get<int>());
}

}  // namespace

void read_rounds(Run& run, const fs::path& folder, Audience audience) {
  std::ifstream in(folder / "rounds.jsonl", std::ios::binary);
  if (!in) return run.faults.push_back("rounds.jsonl is missing");
  constexpr std::size_t longest = 1U << 20U, most = 2'000'000;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (in.eof()) break;  // without its end: half written
    const json j = line.size() > longest ? json() : shallow_json(line);
    const double round = number_in(j, "round");
    if (!(round >= 0 && round < 1e9) || run.rounds.size() >= most) {
      run.faults.push_back("rounds.jsonl: line " + std::to_string(number) + " is broken; what follows is left out");
      break;
    }
    Round r{.round = static_cast<int>(round),
            .kind = text_in(j, "kind"),
            .epsilon = number_in(j, "epsilon"),
            .disagreement = run.guarantee.holds || audience == Audience::owner ? number_in(j, "disagreement") : absent};
    if (audience == Audience::owner && j.contains("private")) {
      r.train_loss = number_in(j["private"], "train_loss");
      r.test_error = number_in(j["private"], "test_error");
    }
    if (j.contains("stamp") && run.guarantee.holds) {
      run.guarantee.holds = false;
      run.guarantee.stamp = "NOT PRIVATE: a round of it says so";
      r.disagreement = audience == Audience::owner ? r.disagreement : absent;
    }
    run.rounds.push_back(std::move(r));
  }
  run.rounds_done = run.rounds.empty() ? 0 : run.rounds.back().round;
}

void read_common(Run& run, const json& top, const json& options, Audience audience) {
  run.outcome = text_in(top, "outcome");
  if (run.outcome.empty()) run.faults.push_back("run.json has no outcome");
  read_options(run, options, audience);
  read_guarantee(run, member(top, "privacy"), options);
  if (run.guarantee.holds && run.options.contains("seed") && run.options["seed"] != "–") {  // the stamp was lost
    run.guarantee.holds = false;
    run.guarantee.stamp = "NOT PRIVATE: noise from a seed";
  }
}

namespace {

Run read_simulation(const Parts& parts, Audience audience) {
  const json& top = parts[0].run;
  Run run;
  read_common(run, top, member(top, "options"), audience);
  run.data = shown_data(text_in(top, "data"), audience);
  run.features = number_in(top, "features");
  for (const json& warning : member(top, "warnings"))  // those of a ledger name the dataset and compare its rows
    if (warning.is_string() && audience == Audience::owner) run.warnings.push_back(warning.get<std::string>());
  read_nodes(run, top);
  read_rounds(run, parts[0].folder, audience);
  if (audience == Audience::owner) {
    const json measured = member(top, "private");
    run.metrics = {.test_error = number_in(measured, "test_error"),
                   .test_error_pooled = number_in(measured, "test_error_nonprivate"),
                   .train_loss = number_in(measured, "train_loss"),
                   .train_loss_pooled = number_in(measured, "train_loss_nonprivate")};
  }
  return run;
}

Run read_run(const Parts& parts, Audience audience) {
  const std::string format = text_in(parts[0].run, "format");
  Run run;
  if (format == "parley-run-1")
    run = read_simulation(parts, audience);
  else if (format == "parley-party-1")
    run = read_party(parts, audience);
  else
    run.faults.push_back(parts[0].run.is_null() ? "run.json cannot be read: it is not JSON, or too large"
                                                : "run.json is not of a format that this version knows");
  if (run.guarantee.stamp.empty() && !run.guarantee.holds)
    run.guarantee.stamp = "NOT PRIVATE: the record cannot be read";
  if (audience == Audience::owner) run.place = parts[0].folder.string();
  // What a run without a guarantee released is covered by nothing.
  if (run.guarantee.holds || audience == Audience::owner) add_released(run, parts);
  return run;
}

}  // namespace

double Run::covered_epsilon() const {
  if (completed()) return guarantee.epsilon;
  return std::isnan(guarantee.epsilon) ? guarantee.epsilon_planned
                                       : std::max(guarantee.epsilon, guarantee.epsilon_planned);
}

std::string Run::option(const std::string& name) const {
  const auto found = options.find(name);
  return found == options.end() || found->second == "–" ? "" : found->second;
}

std::vector<Run> read_runs(const std::vector<fs::path>& folders, Audience audience) {
  std::vector<Run> runs;
  for (const Parts& parts : find_runs(folders)) runs.push_back(read_run(parts, audience));
  return runs;
}

}  // namespace parley::report
