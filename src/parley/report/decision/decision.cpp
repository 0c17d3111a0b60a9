#include "parley/report/decision/decision.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "parley/base/printed.h"
#include "parley/base/text.h"
#include "parley/report/decision/light.h"
#include "parley/report/decision/odds.h"
#include "parley/report/drawing/escape.h"
#include "parley/report/words.h"

namespace parley::report {
namespace {

struct Fewer {
  double epsilon = 0;  // of all runs together
  std::string whom;
};

// Against colluders that the plans allow for, where a run shares noise. The figure of a run that shares none holds
// against them too.
std::optional<Fewer> against_colluders(const std::vector<Group>& groups) {
  Fewer sum;
  std::set<std::string> whom;
  for (const Group& g : groups)
    for (const Run& run : g.runs) {
      const bool shares = std::isfinite(run.guarantee.epsilon_colluders);
      sum.epsilon += shares ? run.guarantee.epsilon_colluders : run.covered_epsilon();
      if (shares) whom.insert(run.guarantee.colluders);
    }
  if (whom.empty()) return std::nullopt;
  sum.whom = whom.size() == 1 ? *whom.begin() : "those whom each run allows for";
  return sum;
}

// Of each run: its own ε, δ and curve.
std::vector<Claim> claims_of(const std::vector<Group>& groups) {
  std::vector<Claim> all;
  for (const Group& g : groups)
    for (const Run& run : g.runs) all.push_back({run.covered_epsilon(), run.guarantee.delta, run.guarantee.trade_off});
  return all;
}

double largest_guess(const std::vector<Claim>& claims) {
  double most = 0;
  for (const Claim& c : claims) most = std::max(most, best_guess(c.epsilon, c.delta, c.curve));
  return most;
}

std::string spent_card(const Run& run) {
  const Guarantee& g = run.guarantee;
  if (run.planned())
    return card("budget of the plan", "ε " + printed_epsilon(g.epsilon_planned), "nothing is spent yet");
  if (!std::isfinite(g.epsilon_planned)) return "";
  const double left = std::floor(std::max(0.0, g.epsilon_planned - g.epsilon) * 1e4) / 1e4;
  return card("ε spent", printed_epsilon(g.epsilon),
              "of " + printed_epsilon(g.epsilon_planned) + " planned; " +
                  (run.completed() ? left > 0 ? fmt::format("not spent: ε {:.4f}", left)
                                              : "nothing of it is left. Another run spends anew"
                                   : "ended early: the planned ε covers it"));
}

}  // namespace

std::string card(const std::string& name, const std::string& value, const std::string& small,
                 std::optional<Light> light) {
  return fmt::format(
      "<div class=\"card{}\"><div class=\"name\">{}</div><div class=\"value\">{}{}</div><div "
      "class=\"small\">{}</div></div>\n",
      light ? " " + name_of(*light) : "", escaped(name), light ? sign_of(*light) : "", escaped(value), escaped(small));
}

std::string light_part(const Verdict& v, const std::string& whom) {
  return fmt::format("<div class=\"light {}\">{}<p><strong>{}</strong>{} {}</p></div>\n", name_of(v.light),
                     sign_of(v.light), escaped(v.word),
                     whom.empty() ? "" : fmt::format(" <span class=\"whom\">{}:</span>", escaped(whom)),
                     escaped(v.sentence));
}

std::string lights_part(const std::vector<Group>& groups) {
  const bool holds = all_private(groups);
  const Total sum = total(groups);  // on the same rows, the runs add up
  const std::optional<Fewer> fewer = holds ? against_colluders(groups) : std::nullopt;
  const std::string runs = sum.runs > 1 && holds ? fmt::format("all {} runs together", sum.runs) : "";
  const auto told = [&](const std::string& whom) {
    return runs.empty() || whom.empty() ? runs + whom : runs + ", " + whom;
  };
  std::string out = "<div class=\"lights\" role=\"note\" aria-label=\"Traffic light\">\n";
  const bool published = publishing_allowed(groups);
  out += light_part(verdict_on(sum.epsilon, holds, published), told(fewer ? "against all other parties together" : ""));
  if (fewer) out += light_part(verdict_on(fewer->epsilon, holds, published), told("against " + fewer->whom));
  out += "</div>\n";
  for (const std::string& text : {delta_warning(groups), epsilon_warning(groups)})
    if (!text.empty()) out += "<p class=\"warning\">" + escaped(text) + "</p>\n";
  return out;
}

std::string odds_sentence(const std::vector<Group>& groups) {
  if (!all_private(groups)) return "";
  const std::vector<Claim> claims = claims_of(groups);
  const bool exact = std::ranges::all_of(claims, [](const Claim& c) { return c.curve == TradeOff::gaussian; }),
             several = claims.size() > 1, persons = least_rows_per_person(groups) > 0;
  std::string text = fmt::format(
      "Somebody who has to decide which of two {} used{}, starts with even odds and sees {}, is "
      "right with probability at most {} (50 % is guessing{}).",
      persons ? "people's rows were" : "records was",
      any_as_dealt(groups) ? " in one place of one node, all rows being dealt already" : "",
      several ? "one of these runs" : "every message", guess_text(largest_guess(claims)),
      exact ? "; from the exact trade-off curve of Gaussian noise" : "");
  if (several)
    text += fmt::format(" Who sees all {} runs, if they used the same records: at most {}.", claims.size(),
                        guess_text(best_guess(claims)));
  return text;
}

std::string decision_cards(const std::vector<Group>& groups) {
  std::string out;
  if (all_private(groups))
    out += card("best guesser is right", "≤ " + guess_text(best_guess(claims_of(groups))),
                std::string(least_rows_per_person(groups) > 0 ? "which of two people's rows were used"
                                                              : "which of two records was used") +
                    "; 50 % is guessing" + (total(groups).runs > 1 ? "; who sees all runs together" : ""));
  if (groups.size() == 1 && groups[0].runs.size() == 1 && all_private(groups)) out += spent_card(groups[0].first());
  if (groups.size() == 1) out += guessing_card(groups[0]);
  return out;
}

}  // namespace parley::report
