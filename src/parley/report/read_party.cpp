#include "parley/report/read_party.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "parley/base/text.h"
#include "parley/report/files.h"
#include "parley/report/words.h"

namespace parley::report {
namespace {

using nlohmann::json;

// Every party has the study, so its names, sizes and edges are public between them.
void read_study(Run& run, const json& study) {
  std::map<std::string, int> number_of;
  for (const json& party : member(study, "parties")) {
    Node node{.name = text_in(party, "name"), .trainer = member(party, "trainer") == json(true)};
    if (!node.trainer) node.records = number_in(party, "records");
    number_of[node.name] = static_cast<int>(run.nodes.size());
    run.star = run.star || node.trainer;
    run.nodes.push_back(std::move(node));
  }
  if (run.nodes.empty()) run.faults.push_back("run.json has no parties");
  for (Node& node : run.nodes) node.degree = 0;
  for (const json& edge : member(study, "edges")) {
    if (!edge.is_array() || edge.size() != 2 || !edge[0].is_string() || !edge[1].is_string()) continue;
    const auto a = number_of.find(edge[0].get<std::string>()), b = number_of.find(edge[1].get<std::string>());
    if (a == number_of.end() || b == number_of.end()) continue;
    run.edges.emplace_back(a->second, b->second);
    for (const auto& end : {a, b}) ++run.nodes[static_cast<std::size_t>(end->second)].degree;
  }
}

void read_statement(Run& run, const Part& part) {
  const json file = read_json(part.folder / "statement.json");
  const json statement = member(file, "statement");
  const std::string party = text_in(part.run, "party");
  if (!statement.is_object()) return run.faults.push_back("there is no statement of " + party + " (statement.json)");
  Statement s{.party = text_in(statement, "party")};
  const auto count = [&](const char* key) { return fmt::format("{:.0f}", number_in(statement, key)); };
  s.words = fmt::format("Outcome: {}. {} rounds released, {} of them computed from rows.",
                        text_in(statement, "outcome"), count("rounds_released"), count("rounds_from_rows"));
  const double epsilon = number_in(statement, "epsilon"), delta = number_in(statement, "delta");
  if (std::isfinite(epsilon) && std::isfinite(delta))
    s.words += fmt::format(" Privacy loss of {}: ε = {}, δ = {} ({}).", s.party, epsilon_text(epsilon), number(delta),
                           text_in(statement, "bound"));
  if (const std::string limits = text_in(statement, "not_verifiable_from_outside"); !limits.empty())
    s.words += " " + limits;
  for (const json& line : member(statement, "assumptions"))
    if (line.is_string()) s.assumptions.push_back(line.get<std::string>());
  for (Node& node : run.nodes)
    if (node.name == s.party) node.epsilon = epsilon;
  if (text_in(statement, "study_hash") != run.study_hash)
    run.faults.push_back("the statement of " + s.party + " is about another study");
  run.statements.push_back(std::move(s));
}

}  // namespace

Run read_party(const Parts& parts, Audience audience) {
  const json& top = parts[0].run;
  const json study = member(top, "study");
  json options = member(study, "options");
  if (options.is_object()) {
    const json planned = member(study, "planned");
    if (planned.is_object())
      for (const auto& [name, value] : planned.items()) options[name] = value;
    options["seed"] = member(study, "seed");
  }
  Run run{.party = true};
  read_common(run, top, options, audience);
  run.study_hash = text_in(top, "study_hash");
  run.identity = run.study_hash;
  run.title = text_in(study, "title");
  run.features = number_in(study, "features");
  if (study.is_object()) read_study(run, study);
  // The lines of the first party that spends; the trainer, who has no rows, has lines without ε.
  bool has_losses = false;
  for (const Part& part : parts) {
    Run lines = run;
    lines.rounds.clear();
    lines.faults.clear();
    read_rounds(lines, part.folder, audience);
    const bool spends = std::ranges::any_of(lines.rounds, [](const Round& r) { return r.epsilon > 0; });
    run.faults.insert(run.faults.end(), lines.faults.begin(), lines.faults.end());
    if (run.rounds.empty() || (spends && !has_losses)) {
      run.rounds = lines.rounds;
      run.rounds_done = lines.rounds_done;
      has_losses = spends;
    }
    if (!lines.guarantee.holds) run.guarantee = lines.guarantee;  // one party's word is enough
  }
  if (audience == Audience::owner && parts.size() == 1) {
    const json model =
        member(read_json((parts[0].folder / "").parent_path().string() + ".private_metrics.json"), "model");
    run.metrics.own_loss = number_in(model, "loss");
    run.metrics.own_error = number_in(model, "error");
  }
  for (const Part& part : parts) {
    read_statement(run, part);
    if (const std::string outcome = text_in(part.run, "outcome"); outcome != run.outcome)
      run.faults.push_back(text_in(part.run, "party") + " has another outcome: " + outcome);
  }
  return run;
}

}  // namespace parley::report
