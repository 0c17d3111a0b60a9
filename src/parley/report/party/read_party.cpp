#include "parley/report/party/read_party.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "parley/base/printed.h"
#include "parley/base/text.h"
#include "parley/record/beside.h"
#include "parley/record/files.h"
#include "parley/record/void_claims.h"
#include "parley/report/read.h"
#include "parley/report/words.h"

namespace parley::report {
namespace {

using nlohmann::json;
using record::member;
using record::number_in;
using record::text_in;

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

void read_node_facts(Run& run, const json& top) {
  for (const json& fact : member(top, "node_facts"))
    if (const double node = number_in(fact, "node"); node >= 0 && node < static_cast<double>(run.nodes.size()))
      run.nodes[static_cast<std::size_t>(node)].epsilon =
          std::fmax(number_in(fact, "epsilon_planned"), number_in(fact, "epsilon_all_others_planned"));
  read_noise(run, top);
}

void read_approvals(Run& run, const json& top) {
  for (const json& one : member(top, "approvals"))
    run.approvals.push_back({text_in(one, "party"), text_in(one, "date"), text_in(one, "words")});
  if (const double refused = number_in(top, "approvals_refused"); refused > 0 && refused < 1e6)
    run.approvals_refused = static_cast<int>(refused);
}

// By the record of every part of every party that was given: one is enough.
void read_void_claims(Run& run, const Sources& sources) {
  std::set<std::string> past_unknown, contradicted;
  const auto add = [&](const json& record) {
    for (const record::VoidClaim& one : record::void_claims(record)) {
      const bool known = std::ranges::find(run.nodes, one.party, &Node::name) != run.nodes.end();
      if (known)
        (one.why == record::VoidClaim::Why::forgotten ? past_unknown : contradicted).insert(one.party);
      else
        (one.why == record::VoidClaim::Why::unproved ? run.void_claims.somebody : run.void_claims.anybody) = true;
    }
  };
  for (const Source& source : sources) {
    add(source.run);
    for (const Source& later : source.later) add(later.run);
  }
  run.void_claims.past_unknown.assign(past_unknown.begin(), past_unknown.end());
  run.void_claims.contradicted.assign(contradicted.begin(), contradicted.end());
}

// Fails closed: a figure that would have to leave somebody out is left out itself.
void withdraw_numbers(Run& run) {
  Guarantee& g = run.guarantee;
  g.holds = false;
  g.stamp = "NOT PRIVATE: " + run.void_claims.in_words();
  g.epsilon = g.epsilon_planned = g.epsilon_paper = g.epsilon_colluders = absent;
  for (Round& round : run.rounds) round.epsilon = absent;
}

// How a run went on, as the record of its newest part tells it.
void read_parts(Run& run, const Source& source) {
  const json told = member(source.later.empty() ? source.run : source.later.back().run, "parts");
  constexpr std::size_t most = 1000;
  int before = 0;
  for (const json& part : told) {
    RunPart p{.first = before};
    for (const json& name : member(part, "parties"))
      if (name.is_string()) p.parties.push_back(name.get<std::string>());
    for (Node& node : run.nodes)
      if (node.last_round < 0 && std::ranges::find(p.parties, node.name) == p.parties.end()) {
        node.last_round = before;
        p.lost.push_back(node.name);
      }
    const double through = number_in(part, "went_on_after_round"), released = number_in(part, "rounds_released");
    const double rounds = std::isnan(through) ? std::fmax(0, released - 1) : through;  // the last may have just begun
    if (!(rounds >= 0 && rounds < 1e8) || run.parts.size() == most)
      return run.faults.push_back("run.json does not tell its parts");
    before += static_cast<int>(rounds);
    p.last = before;
    run.parts.push_back(std::move(p));
  }
  if (run.parts.size() < 2) run.parts.clear();
  if (run.parts.size() < source.later.size() + 1 && !source.later.empty())
    run.faults.push_back("run.json does not tell all parts of the run");
}

// The rounds as this party recorded them: of each part those that the next one goes on from.
void read_lines(Run& run, const Source& source, Audience audience) {
  if (run.parts.empty()) return read_rounds(run, source.folder, audience);
  for (std::size_t p = 0; p < run.parts.size(); ++p) {
    const RunPart& part = run.parts[p];
    const Source* const folder = part_of(source, p);
    if (folder == nullptr) return run.faults.push_back("the record of part " + std::to_string(p + 1) + " is missing");
    const bool last = p + 1 == run.parts.size();
    read_rounds(run, folder->folder, audience,
                {.part = static_cast<int>(p) + 1,
                 .before = part.first,
                 .from = p == 0 ? 0 : 1,  // round 0 is where the part before it ended
                 .through = last ? Stretch{}.through : part.last - part.first});
  }
}

// Whose lines the page shows: of those who went furthest, the first that spends. A trainer has lines without ε.
void read_lines_of_one(Run& run, const Sources& sources, Audience audience) {
  bool has_losses = false;
  std::size_t most = 0;
  for (const Source& s : sources) most = std::max(most, s.later.size());
  for (const Source& source : sources) {
    Run lines = run;
    lines.rounds.clear();
    lines.faults.clear();
    if (source.later.size() < most) lines.parts.clear();  // it was lost on the way
    read_lines(lines, source, audience);
    const bool spends = std::ranges::any_of(lines.rounds, [](const Round& r) { return r.epsilon > 0; });
    run.faults.insert(run.faults.end(), lines.faults.begin(), lines.faults.end());
    if (source.later.size() == most && (run.rounds.empty() || (spends && !has_losses))) {
      run.rounds = lines.rounds;
      run.rounds_done = lines.rounds_done;
      has_losses = spends;
    }
    if (!lines.guarantee.holds) run.guarantee = lines.guarantee;  // one party's word is enough
  }
}

}  // namespace

const Source* part_of(const Source& source, std::size_t part) {
  if (part == 0) return &source;
  return part <= source.later.size() ? &source.later[part - 1] : nullptr;
}

bool VoidClaims::has(const std::string& party) const {
  const auto in = [&](const std::vector<std::string>& names) { return std::ranges::find(names, party) != names.end(); };
  return anybody || somebody || !not_compared.empty() || in(past_unknown) || in(contradicted) || in(differing);
}

std::string VoidClaims::in_words() const {
  std::vector<std::string> all;
  if (!contradicted.empty())
    all.push_back("no ε holds for " + join(contradicted, ", ") + ", which signed two things that exclude each other");
  if (!past_unknown.empty())
    all.push_back("no ε holds for " + join(past_unknown, ", ") +
                  ", which released more than its ledger knows of, as its own signature shows");
  if (somebody || anybody)
    all.emplace_back(
        "a party told its peers things that exclude each other, and these records do not say which party it was");
  if (!differing.empty())
    all.push_back(
        "no ε holds for " + join(differing, ", ") +
        ", of which these records hold two histories that exclude each other (whether both are signed: 'parley "
        "verify')");
  const std::string more = all.empty() ? "" : join(all, "; ") + ". More was released than is known";
  if (not_compared.empty()) return more;
  return more + (more.empty() ? "" : ". ") +
         "Not verified: these records could not be held against each other, so that a contradiction between them would "
         "not show. Transcript of " +
         join(not_compared, "; transcript of ") + ". 'parley verify' says more";
}

Run read_party(const Sources& sources, Audience audience) {
  const Source& furthest = *std::ranges::max_element(sources, {}, [](const Source& s) { return s.later.size(); });
  const json& top = furthest.run;
  const json study = member(top, "study");
  json options = member(study, "options");
  if (options.is_object()) {
    const json planned = member(study, "planned");
    if (planned.is_object()) options.update(planned);
    options["seed"] = member(study, "seed");
  }
  Run run{.party = true};
  read_common(run, furthest, options);
  read_in_force(run, top);
  const auto outcome_of = [](const Source& s) {  // while a later part is under way, the first says "continued"
    const std::string outcome = text_in(s.run, "outcome");
    return outcome == "continued" && !s.later.empty() ? text_in(s.later.back().run, "outcome") : outcome;
  };
  run.outcome = outcome_of(furthest);
  run.study_hash = text_in(top, "study_hash");
  run.title = text_in(study, "title");
  run.features = number_in(study, "features");
  read_expected(run, top);
  read_coefficients(run, top);
  if (study.is_object()) read_study(run, study);
  const auto shape = record::shape_of(top);
  run.sums = shape && shape->sums;
  read_node_facts(run, top);
  if (run.planned()) {
    read_approvals(run, top);
    return run;
  }
  read_void_claims(run, sources);
  read_parts(run, furthest);
  compare_records(run, sources);
  read_lines_of_one(run, sources, audience);
  if (!run.parts.empty()) run.parts.back().last = std::max(run.parts.back().first, run.rounds_done);
  if (audience == Audience::owner && sources.size() == 1) {
    const json metrics = record::read_json(record::beside(sources[0].folder, ".private_metrics.json"));
    const json model = member(metrics, "model");
    run.metrics.own_held_out = member(metrics, "held_out") == json(true);
    run.metrics.own_loss = number_in(model, "loss");
    run.metrics.own_error = number_in(model, "error");
    run.metrics.test_error_guessing = number_in(model, "baseline_error");
    read_worth(run.metrics, model);
  }
  for (const Source& source : sources) {
    read_statement(run, source);
    const std::string outcome = outcome_of(source), name = text_in(source.run, "party");
    const auto node = std::ranges::find(run.nodes, name, &Node::name);
    const bool lost = node != run.nodes.end() && node->last_round >= 0;  // the page says so elsewhere
    if (outcome != run.outcome && !lost) run.faults.push_back(name + " has another outcome: " + outcome);
  }
  if (run.void_claims.any()) withdraw_numbers(run);
  return run;
}

}  // namespace parley::report
