#include <cmath>

#include "parley/base/printed.h"
#include "parley/report/decision/light.h"
#include "parley/report/page.h"

namespace parley::report {
namespace {

// A smaller loss of points is not all that it costs.
std::string second_epsilon(const Expected::Lever& lever) {
  if (!std::isfinite(lever.all_others)) return "";
  const Verdict verdict = verdict_on(lever.all_others, true);
  return "; against all other parties together then ε = " + printed_epsilon(lever.all_others) + ": " + verdict.word +
         ". " + verdict.sentence;
}

std::string expected_of(const Run& run) {
  const Expected& e = run.expected;
  std::string out;
  if (!e.chosen.empty()) out += paragraph(run.option("algorithm") + " was chosen by the planner: " + e.chosen + ".");
  if (!e.noise.empty()) out += paragraph("The plan has " + e.noise + ".");
  if (!e.forecast.empty()) out += paragraph("Expect " + e.forecast + ".") + paragraph("Expect " + e.limit + ".");
  std::vector<std::vector<std::string>> rows = {{"what would help", "points lost to privacy with it"}};
  for (const Expected::Lever& lever : e.levers) rows.push_back({lever.what, lever.points + second_epsilon(lever)});
  return rows.size() == 1 ? out : out + table(rows);
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
