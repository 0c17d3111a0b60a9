#include "parley/report/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "parley/base/printed.h"
#include "parley/base/text.h"
#include "parley/record/adjacency.h"
#include "parley/report/decision/decision.h"
#include "parley/report/drawing/axis.h"

namespace parley::report {

std::string value_text(double value) {
  return std::isfinite(value) ? short_number(value) : "–";
}

std::string count_text(double count) {
  if (!std::isfinite(count)) return "–";
  std::string digits = fmt::format("{:.0f}", count);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

bool of_numbers(const Run& run) {
  return run.option("loss") == "huber" || run.option("loss") == "squared";
}

std::string error_text(const Run& run, double error) {
  if (!std::isfinite(error)) return "–";
  return of_numbers(run) ? value_text(error) : fmt::format("{:.2f} %", 100 * error);
}

std::string own_rows_in_words(const Run& run) {
  return run.metrics.own_held_out ? "rows that were held out" : "rows that it was trained on";
}

std::string spread_text(const Spread& s) {
  if (s.count < 2 || s.low == s.high) return value_text(s.mean);
  return fmt::format("{} ({} to {})", value_text(s.mean), value_text(s.low), value_text(s.high));
}

Total total(const std::vector<Group>& groups) {
  Total t;
  for (const Group& g : groups)
    for (const Run& run : g.runs) {
      ++t.runs;
      t.epsilon += run.covered_epsilon();
      t.delta += run.guarantee.delta;
    }
  return t;
}

// (ε, δ) that holds for every run: the largest ε with the largest δ.
double largest_delta(const std::vector<Group>& groups) {
  double delta = 0;
  for (const Group& g : groups)
    for (const Run& run : g.runs) delta = std::max(delta, run.guarantee.delta);
  return delta;
}

namespace {

template <class Rule>
bool any(const std::vector<Group>& groups, const Rule& rule) {
  return std::ranges::any_of(groups, [&](const Group& g) { return std::ranges::any_of(g.runs, rule); });
}

}  // namespace

bool any_verified_only(const std::vector<Group>& groups) {
  return any(groups, [](const Run& r) { return r.guarantee.verified_only(); });
}

bool any_as_dealt(const std::vector<Group>& groups) {
  return any(groups, [](const Run& r) { return r.guarantee.as_dealt(); });
}

long least_rows_per_person(const std::vector<Group>& groups) {
  long least = std::numeric_limits<long>::max();
  for (const Group& g : groups)
    for (const Run& r : g.runs) least = std::min(least, r.guarantee.rows_per_person);
  return least == std::numeric_limits<long>::max() ? 0 : least;
}

// "person (1 row) or person (up to 4 rows), as each run counts"
std::string units_in_words(const std::vector<Group>& groups) {
  std::set<long> all;
  for (const Group& g : groups)
    for (const Run& r : g.runs) all.insert(r.guarantee.rows_per_person);
  std::vector<std::string> units;
  for (const long rows : all) units.push_back(record::unit_in_words(rows));
  return join(units, " or ") + (units.size() > 1 ? ", as each run counts" : "");
}

bool any_measured(const std::vector<Group>& groups) {
  const auto has = [](const Run& r) {
    const Metrics& m = r.metrics;
    return std::isfinite(m.test_error) || std::isfinite(m.train_loss) || std::isfinite(m.own_loss) ||
           std::ranges::any_of(r.rounds, [](const Round& t) { return std::isfinite(t.train_loss); });
  };
  return any(groups, has);
}

std::string rounded_up(double delta) {  // to three digits
  double up = delta;
  std::string text = fmt::format("{:.3g}", up);
  while (std::stod(text) < delta) text = fmt::format("{:.3g}", up *= 1.003);
  return text;
}

bool all_private(const std::vector<Group>& groups) {
  return std::ranges::all_of(groups, [](const Group& g) {
    return std::ranges::all_of(g.runs, [](const Run& r) { return r.guarantee.holds; });
  });
}

bool any_void(const std::vector<Group>& groups) {
  return any(groups, [](const Run& r) { return r.void_claims.any(); });
}

namespace {

// It may be each of them.
bool any_party_void(const std::vector<Group>& groups) {
  return any(groups, [](const Run& r) { return r.void_claims.has(""); });
}

}  // namespace

std::vector<std::string> stamps(const std::vector<Group>& groups) {
  std::vector<std::string> all;
  for (const Group& g : groups)
    for (const Run& run : g.runs)
      if (!run.guarantee.holds && std::ranges::find(all, run.guarantee.stamp) == all.end())
        all.push_back(run.guarantee.stamp);
  return all;
}

// " Not covered: 500 rows …"
std::string not_covered(const std::vector<Group>& groups) {
  std::set<std::string> all;
  for (const Group& g : groups)
    for (const Run& run : g.runs)
      if (!run.guarantee.not_covered.empty()) all.insert(run.guarantee.not_covered);
  return all.empty() ? "" : " Not covered: " + join({all.begin(), all.end()}, "; ") + ".";
}

// As the planner warns of it: δ ≥ 1/B_i, of all runs together. From what the page shows, so that every reader has it.
std::string delta_warning(const std::vector<Group>& groups) {
  const Total sum = total(groups);
  for (const Group& g : groups)
    for (const Run& run : g.runs)
      for (std::size_t i = 0; i < run.nodes.size(); ++i)
        if (sum.delta >= 1 / run.nodes[i].records)
          return fmt::format(
              "Warning: δ = {}{} is not below 1/records of node {} ({} records): publishing a record outright would be "
              "allowed. Choose δ of at most 1/(10 × records).",
              rounded_up(sum.delta), sum.runs > 1 ? fmt::format(" of all {} runs together", sum.runs) : "", i,
              count_text(run.nodes[i].records));
  return "";
}

bool publishing_allowed(const std::vector<Group>& groups) {
  constexpr double most = 1e-3;  // where a record does not say how many rows there are
  return !delta_warning(groups).empty() || total(groups).delta > most;
}

std::string epsilon_warning(const std::vector<Group>& groups) {
  const Total sum = total(groups);
  if (!all_private(groups) || sum.epsilon <= 10) return "";
  return fmt::format(
      "Warning: ε = {}{}. The odds of a statement about a record may change by a factor of more than 20,000: this is "
      "no "
      "meaningful protection.",
      printed_epsilon(sum.epsilon), sum.runs > 1 ? fmt::format(" of all {} runs together", sum.runs) : "");
}

// " Against any 25 of the 100 parties together, …: ε = 1.0000."
std::string against_fewer(const std::vector<Group>& groups) {
  std::map<std::string, double> all;
  for (const Group& g : groups)
    for (const Run& run : g.runs)
      if (std::isfinite(run.guarantee.epsilon_colluders)) {
        double& most = all[run.guarantee.colluders];
        most = std::max(most, run.guarantee.epsilon_colluders);
      }
  if (all.empty()) return " It holds against everybody else together, whatever else they know.";
  std::string text = " That is against all other parties together.";
  for (const auto& [whom, epsilon] : all) text += fmt::format(" Against {}: ε = {}.", whom, printed_epsilon(epsilon));
  return text + " A person with rows at several parties costs the sum of their μ, not the root of the squares.";
}

std::string guarantee_sentence(const std::vector<Group>& groups) {
  if (any_void(groups))
    return std::string(
               "There is no guarantee for the whole: a party may have released more than is known, so no ε covers "
               "it. ") +
           (any_party_void(groups) ? "These records do not show which party, so no statement counts."
                                   : "What holds for another party stands in its own statement below.");
  if (!all_private(groups)) {
    const bool some = any(groups, [](const Run& r) { return r.guarantee.holds; });
    return some ? "There is no guarantee for these runs together: some of them are not private."
                : "There is no guarantee: whoever sees the messages may learn everything about a record.";
  }
  const Run& run = worst(groups);
  const Total sum = total(groups);
  const long least = least_rows_per_person(groups);
  std::string text = fmt::format("Anyone who sees every message of {} {} at most ε = {}, δ = {} about any one {}",
                                 sum.runs == 1 ? "this run" : "one of these " + std::to_string(sum.runs) + " runs",
                                 run.planned() ? "will learn" : "learns", printed_epsilon(run.covered_epsilon()),
                                 number(largest_delta(groups)), units_in_words(groups));
  if (any_as_dealt(groups)) text += " (" + record::name_of(record::Adjacency::as_dealt) + ")";
  text += any_verified_only(groups) ? ", by a numerically verified bound." : ".";
  text += not_covered(groups);
  text += against_fewer(groups);
  if (sum.runs > 1)
    text += fmt::format(
        " Runs on the same rows add up: whoever sees all {} learns at most ε = {}, δ = {}{}.", sum.runs,
        printed_epsilon(sum.epsilon), rounded_up(sum.delta),
        units_in_words(groups) == record::unit_in_words(least) ? "" : " about any one " + record::unit_in_words(least));
  return text;
}

std::vector<std::string> in_plain_words(const std::vector<Group>& groups) {
  std::vector<std::string> all;
  if (any_void(groups)) {
    all.push_back(
        "A guarantee is about all that a party has released. A party whose folder was copied or put back, or that told "
        "others two different things, has released what no ledger and no record counts. The reason is in the banner. " +
        std::string(any_party_void(groups) ? ""
                                           : "The ε of every other party rests on that party alone, and holds as its "
                                             "statement says. ") +
        "Find out with 'parley verify' and the records of all parties what was signed.");
    return all;
  }
  if (!all_private(groups)) {
    all.push_back(
        "A run is private when its noise is secret and nothing else of it was computed from rows. Here that does not "
        "hold, for the reason in the banner. The numbers on this page are what the same run with secret noise and "
        "public preprocessing would have lost. Do not share its messages or its model as if they were protected.");
    return all;
  }
  const Run& run = worst(groups);
  const double epsilon = run.covered_epsilon(), delta = largest_delta(groups), factor = std::exp(epsilon);
  const std::string chance =
      delta > 0 ? fmt::format(", but for a difference of at most δ = {} in its probability", number(delta)) : "";
  const bool as_dealt = any_as_dealt(groups);
  const long rows = least_rows_per_person(groups);
  const std::string unit = record::unit_in_words(rows);
  all.push_back(fmt::format(
      "{} Then nothing that can be seen of a whole run, all messages of all nodes in all rounds together and the "
      "model, "
      "becomes more than e^ε = {} times as likely or as unlikely{}. This also holds against somebody who knows every "
      "other {}{}.",
      as_dealt ? "The rows were dealt by a split that reads them. Leave every row where it was dealt to, take one " +
                     unit + " of one node, and replace what it holds there by anything else."
      : rows > 0 ? "Take any one " + unit + " of any one node and replace what the person's rows hold by anything else."
                 : "Take any one record of any one node and replace it by any other.",
      value_text(factor), chance, rows > 0 ? "person's rows" : "record",
      as_dealt ? " and where it was dealt to. It does not hold for a record of the table before dealing: another value "
                 "there may move other rows, and no ε is claimed for that"
               : ""));
  all.push_back(odds_sentence(groups));
  const auto adjacency = as_dealt ? record::Adjacency::as_dealt : record::Adjacency::replace_one;
  all.push_back(fmt::format("{}: {}. Adjacency: {}: {}.",
                            run.guarantee.verified_only() ? "Numerically verified, not proved" : "Proved by",
                            run.guarantee.theorem.empty() ? "(the record names no theorem)" : run.guarantee.theorem,
                            record::name_of(adjacency), record::meaning_of(adjacency, rows)));
  if (std::isfinite(run.guarantee.epsilon_paper))
    all.push_back(fmt::format("The paper's own formula gives ε = {} for this run; the guarantee does not rest on it.",
                              printed_epsilon(run.guarantee.epsilon_paper)));
  if (!run.completed() && !run.planned())
    all.push_back("The run did not complete: the loss planned for the whole run is what covers it.");
  all.push_back(
      "Not covered: what is true of everybody (if the model says that smoking goes with illness, it says so about "
      "every "
      "smoker); that somebody takes part at all; " +
      std::string(rows > 0 ? "a person with rows at several nodes, where what they cost adds up; "
                           : "a person with several records (k records: k times ε, and a larger δ); ") +
      "other runs on the same rows, which add up; what one side publishes outside of this program.");
  return all;
}

std::vector<std::string> assumptions(const std::vector<Group>& groups) {
  for (const Group& g : groups)
    for (const Run& run : g.runs)
      for (const Statement& s : run.statements)
        if (!s.assumptions.empty()) return s.assumptions;
  if (!any(groups, [](const Run& r) { return r.guarantee.holds; }))
    return {"None: there is no guarantee that could rest on them. " + join(stamps(groups), "; ") + "."};
  std::vector<std::string> all;
  if (!all_private(groups)) all.push_back("These are of the runs that are not marked NOT PRIVATE.");
  all.insert(
      all.end(),
      {"Every row has norm at most 1 after the public schema (enforced: rows are clipped).",
       "Bounds and categories of the schema were written down without looking at the private rows (no program can "
       "check this).",
       any(groups, [](const Run& r) { return r.party; })
           ? "No row of a party is held by another party too, and none is held twice (no program can check this: the "
             "parties agree on it before the study)."
           : "No row is held by two nodes (the same file or the same rows at two nodes are refused; a row that both "
             "have by itself is not noticed).",
       least_rows_per_person(groups) > 0
           ? "No person has more rows at a node than the sentence says, by the person column of the schema (enforced: "
             "more rows are refused or left out); nobody stands there under two names (no program can check this)."
           : "A record is one row: who has several rows is not covered by the ε of one (name the column that tells "
             "persons apart in the schema, and it is).",
       "Where minima are released, each was certified to the planned tolerance (enforced: otherwise nothing is "
       "released).",
       any_as_dealt(groups)
           ? "The split read rows to deal them, so sizes, penalties and noise follow from private values: no ε covers "
             "what they tell. They were not chosen by their effect on private rows."
           : "Penalties, noise and the number of rounds were fixed before rows were read, and not chosen by their "
             "effect "
             "on private rows.",
       "Noise came from the operating system's generator through ChaCha20 and was not kept.",
       "Each round was released once, and charged before it left.",
       "The proofs are in real numbers; released values are rounded to a public grid that hides the low bits of "
       "floating point.",
       "Each node's guarantee rests on its own noise alone: that others added theirs cannot be seen from outside."});
  std::set<std::string> weights;
  for (const Group& g : groups)
    for (const Run& run : g.runs)
      if (const std::string how = run.option("class-weight"); !how.empty() && how != "none")
        weights.insert(how +
                       (run.option("class-share").empty() ? "" : " with the class share " + run.option("class-share")));
  for (const std::string& one : weights)
    all.push_back("Records count by their class, by the class weights " + one +
                  ": these were chosen without looking at the rows (no program can check this).");
  return all;
}

}  // namespace parley::report
