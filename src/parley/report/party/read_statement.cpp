// report/party/read_party.h: what a party signed about its run, beside what its record says.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "parley/base/printed.h"
#include "parley/base/text.h"
#include "parley/record/adjacency.h"
#include "parley/record/files.h"
#include "parley/report/party/read_party.h"

namespace parley::report {
namespace {

using nlohmann::json;
using record::member;
using record::number_in;
using record::text_in;

int lines_of(const Source& source) {
  record::RoundLines lines(source.folder);
  std::string text;
  json line;
  int count = 0;
  while (lines.there() && lines.next(text, line)) ++count;
  return count;
}

// A process that was started again releases more, and the statement of the one before it counts less. "": it is not so.
std::string older_than_its_record(const Source& source, const json& statement) {
  int recorded = lines_of(source);
  for (const Source& later : source.later) recorded += lines_of(later);
  const double stated = number_in(statement, "rounds_released");
  if (stated >= recorded) return "";
  return fmt::format(" counts {:.0f} rounds, and its record has {}: what it says about ε is too small", stated,
                     recorded);
}

// What differs between the unit of a record and that of the statement beside it; "": nothing. run.json is not signed.
std::string other_unit(const json& privacy, const json& statement, long rows) {
  const std::string unit = record::unit_in_words(rows), adjacency = record::meaning_in_statement(rows);
  const auto differs = [](const std::string& found, const std::string& expected) {
    return !found.empty() && found != expected;
  };
  if (differs(text_in(statement, "unit"), unit)) return "names no unit that parley writes";
  if (differs(text_in(statement, "adjacency"), adjacency)) return "is about another change of rows than its unit";
  const double told = text_in(privacy, "unit") == "person" ? std::fmax(0, number_in(privacy, "rows_per_person")) : 0;
  if (told != static_cast<double>(rows) || differs(text_in(privacy, "unit"), rows > 0 ? "person" : "row"))
    return "is for any one " + unit + ", and run.json says something else";
  if (differs(text_in(privacy, "adjacency_means"), record::meaning_of(record::Adjacency::replace_one, rows)))
    return "is for any one " + unit + ", and run.json tells another change of rows";
  return "";
}

// The record has the plan's loss for all parties and parts; no statement may claim more than the page does, nor the page
// what nobody has signed.
void take_what_is_signed(Run& run, const Source& source, const json& statement) {
  Guarantee& g = run.guarantee;
  const auto at_least = [&](double& told, const char* key) { told = std::fmax(told, number_in(statement, key)); };
  at_least(g.epsilon, "epsilon");
  at_least(g.epsilon, "epsilon_all_others");
  at_least(g.epsilon_planned, "epsilon_planned");
  at_least(g.epsilon_planned, "epsilon_all_others_planned");
  at_least(g.delta, "delta");
  if (std::isfinite(g.epsilon_colluders)) at_least(g.epsilon_colluders, "epsilon");
  if (!std::isfinite(number_in(statement, "epsilon"))) return;  // of a trainer, who has no rows, or without noise
  const double told = number_in(statement, "rows_per_person");
  const long rows = told >= 1 && told <= 1e6 ? static_cast<long>(told) : 0;
  std::string why = other_unit(member(source.run, "privacy"), statement, rows);
  for (const Source& later : source.later)
    if (why.empty()) why = other_unit(member(later.run, "privacy"), statement, rows);
  g.rows_per_person = std::min(g.rows_per_person, rows);
  if (why.empty() || !g.holds) return;
  g.holds = false;
  g.stamp = "NOT PRIVATE: the statement of " + text_in(statement, "party") + " " + why;
}

}  // namespace

void read_statement(Run& run, const Source& source) {
  const json file = record::read_json(source.folder / "statement.json");
  const json statement = member(file, "statement");
  const std::string party = text_in(source.run, "party");
  if (!statement.is_object()) return run.faults.push_back("there is no statement of " + party + " (statement.json)");
  Statement s{.party = text_in(statement, "party")};
  const auto count = [&](const char* key) { return fmt::format("{:.0f}", number_in(statement, key)); };
  s.words = fmt::format("Outcome: {}. {} rounds released, {} of them computed from rows.",
                        text_in(statement, "outcome"), count("rounds_released"), count("rounds_from_rows"));
  const double epsilon = number_in(statement, "epsilon"), delta = number_in(statement, "delta");
  const bool is_private = member(statement, "private") == json(true);
  if (!is_private && run.guarantee.holds) {  // one party's word is enough
    run.guarantee.holds = false;
    run.guarantee.stamp = "NOT PRIVATE: the statement of " + s.party + " does not say that it is";
  }
  const double all_others = std::fmax(epsilon, number_in(statement, "epsilon_all_others"));
  if (run.void_claims.has(s.party)) {
    s.words += " What it states about ε is void: see the banner.";
  } else if (std::isfinite(epsilon) && std::isfinite(delta)) {
    std::string loss = "ε = " + printed_epsilon(epsilon) + ", ";
    if (member(statement, "epsilon_all_others")
            .is_number())  // noise that cancels: two claims, against two kinds of others
      loss = fmt::format("ε = {} against {}; ε = {} against all other parties together; ", printed_epsilon(epsilon),
                         text_in(statement, "against"), printed_epsilon(all_others));
    loss += "δ = " + number(delta);
    s.words += is_private ? fmt::format(" Privacy loss of {}: {} ({}).", s.party, loss, text_in(statement, "bound"))
                          : fmt::format(" NOT PRIVATE: there is no bound. With secret noise, {} would have lost {}.",
                                        s.party, loss);
  }
  if (const std::string limits = text_in(statement, "not_verifiable_from_outside"); !limits.empty())
    s.words += " " + limits;
  for (const json& line : member(statement, "assumptions"))
    if (line.is_string()) s.assumptions.push_back(line.get<std::string>());
  const std::string stale = older_than_its_record(source, statement);
  if (!stale.empty()) run.faults.push_back("the statement of " + s.party + stale);
  for (Node& node : run.nodes)
    if (node.name == s.party && !run.void_claims.has(s.party))
      node.epsilon = stale.empty() ? all_others : std::fmax(node.epsilon, all_others);
  take_what_is_signed(run, source, statement);
  if (text_in(statement, "study_hash") != run.study_hash)
    run.faults.push_back("the statement of " + s.party + " is about another study");
  run.statements.push_back(std::move(s));
}

}  // namespace parley::report
