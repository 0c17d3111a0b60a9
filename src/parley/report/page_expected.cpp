#include <cmath>

#include "parley/base/printed.h"
#include "parley/report/decision/light.h"
#include "parley/report/page.h"

namespace parley::report {
namespace {

// A smaller loss of points is not all that it costs: marked in the table, and said below it.
bool costs_more(const Expected::Lever& lever) {
  return std::isfinite(lever.all_others);
}

std::string second_epsilon(const Expected::Lever& lever) {
  const Verdict verdict = verdict_on(lever.all_others, true);
  return "* " + lever.what + ": against all other parties together then ε = " + printed_epsilon(lever.all_others) +
         ": " + verdict.word + ". " + verdict.sentence;
}

std::string levers_in_table(const std::vector<Expected::Lever>& levers) {
  if (levers.empty()) return "";
  std::vector<std::vector<std::string>> rows = {{"what would help", "points lost to privacy with it"}};
  std::string below;
  for (const Expected::Lever& lever : levers) {
    rows.push_back({lever.what, lever.points + (costs_more(lever) ? " *" : "")});
    if (costs_more(lever)) below += paragraph(second_epsilon(lever));
  }
  return table(rows) + below;
}

std::string expected_of(const Run& run) {
  const Expected& e = run.expected;
  std::string out;
  if (!e.chosen.empty()) out += paragraph(run.option("algorithm") + " was chosen by the planner: " + e.chosen + ".");
  if (!e.noise.empty()) out += paragraph("The plan has " + e.noise + ".");
  if (!e.forecast.empty()) out += paragraph("Expect " + e.forecast + ".") + paragraph("Expect " + e.limit + ".");
  return out + levers_in_table(e.levers);
}

std::string expected_of(const std::vector<Group>& groups) {
  std::vector<std::vector<std::string>> rows = {{"setting", "points lost to privacy, forecast", "chosen by"}};
  for (const Group& g : groups)
    if (const Expected& e = g.first().expected; !e.points.empty())
      rows.push_back({g.name, e.points, e.chosen.empty() ? "hand" : "the planner"});
  return rows.size() == 1 ? "" : table(rows);
}

}  // namespace

std::string expected_part(const std::vector<Group>& groups) {
  const std::string out = groups.size() == 1 ? expected_of(groups[0].first()) : expected_of(groups);
  if (out.empty()) return "";
  return "<section id=\"expected\">\n<h2>What to expect</h2>\n<p class=\"aside\">Known before any record was read: "
         "from "
         "the number of records, features and parties, and the budget.</p>\n" +
         out + "</section>\n";
}

}  // namespace parley::report
