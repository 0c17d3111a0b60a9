#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <set>

#include "parley/base/printed.h"
#include "parley/base/text.h"
#include "parley/report/decision/decision.h"
#include "parley/report/drawing/escape.h"
#include "parley/report/page.h"
#include "parley/report/words.h"

namespace parley::report {
namespace {

// No line break inside "δ = 3e-05".
std::string numbers_together(const std::string& html) {
  static const std::regex value("((?:ε|δ) = [0-9.e+-]*[0-9])");
  return std::regex_replace(html, value, "<span class=\"together\">$1</span>");
}

std::string list(const std::vector<std::string>& lines) {
  std::string out = "<ul>\n";
  for (const std::string& line : lines) out += "<li>" + escaped(line) + "</li>\n";
  return out + "</ul>\n";
}

std::string subtitle(const std::vector<Group>& groups) {
  const Run& run = groups[0].first();
  std::vector<std::string> parts;
  if (groups.size() == 1) {
    const double nodes = static_cast<double>(run.nodes.size()) - (run.star ? 1 : 0);
    if (!run.option("algorithm").empty()) parts.push_back(run.option("algorithm"));
    if (!run.nodes.empty())
      parts.push_back(count_text(nodes) + (run.party ? " parties" : " nodes") + (run.star ? " and a trainer" : ""));
    if (!run.data.empty()) parts.push_back("data: " + run.data);
    if (run.party) parts.push_back("study " + run.study_hash.substr(0, 16));
  } else {
    parts.push_back(std::to_string(groups.size()) + " settings");
  }
  const int runs = total(groups).runs;
  if (runs > 1) parts.push_back(std::to_string(runs) + " runs");
  return join(parts, " · ");
}

std::string range_of(const Spread& s, const std::function<std::string(double)>& text) {
  return s.count > 1 && s.low < s.high ? text(s.low) + " to " + text(s.high) + " over runs" : "";
}

double last_of(const Run& run, double Round::* value) {
  for (auto r = run.rounds.rbegin(); r != run.rounds.rend(); ++r)
    if (std::isfinite((*r).*value)) return (*r).*value;
  return absent;
}

}  // namespace

std::string head_part(const std::vector<Group>& groups, const Options& options) {
  std::string out = "<header>\n";
  for (const std::string& stamp : stamps(groups))
    out += fmt::format("<p class=\"banner\" role=\"alert\"><strong>NOT PRIVATE</strong> {}</p>\n",
                       escaped(stamp.starts_with("NOT PRIVATE: ") ? stamp.substr(13) : stamp));
  out += fmt::format("<h1>{}</h1>\n<p class=\"subtitle\">{}</p>\n", escaped(options.title), escaped(subtitle(groups)));
  out += fmt::format("<p class=\"lead\">{}</p>\n", numbers_together(escaped(guarantee_sentence(groups))));
  out += lights_part(groups);
  out += options.audience == Audience::owner
             ? fmt::format(
                   "<p class=\"audience private\"><strong>Private report.</strong> It contains {}. Keep it where "
                   "the rows are kept.</p>\n",
                   any_measured(groups) ? "losses and errors measured on private rows, and names of files"
                                        : "names of files and all else that is in the record")
         : groups[0].first().planned() ? "<p class=\"audience\"><strong>Plan, to be approved before the run.</strong> "
                                         "Public parameters only: no row "
                                         "was read.</p>\n"
         : all_private(groups)         ? "<p class=\"audience\"><strong>Shareable report.</strong> It contains public "
                                         "parameters and what follows from "
                                         "released values only; no loss, error or file name.</p>\n"
                                       : "<p class=\"audience\"><strong>Shareable report.</strong> It contains public "
                                         "parameters; of runs that are NOT "
                                         "PRIVATE nothing that they released; no loss, error or file name.</p>\n";
  return out + "</header>\n";
}

std::string cards_part(const std::vector<Group>& groups) {
  std::string out = "<section class=\"cards\" aria-label=\"Summary\">\n";
  const auto in_words = [&](double error) { return error_text(groups[0].first(), error); };
  const bool one = groups.size() == 1;
  const Group& g = groups[0];
  const Run& run = g.first();
  const Run& most = worst(groups);
  if (any_void(groups))
    out += card("privacy loss", "not known", "a party may have released more than is known");
  else if (std::isfinite(most.covered_epsilon()))
    out += card(all_private(groups) ? "privacy loss ε" : "ε that secret noise would have",
                printed_epsilon(most.covered_epsilon()),
                "δ = " + (std::isfinite(most.guarantee.delta) ? number(most.guarantee.delta) : "–") +
                    (one ? ", whole run, largest node" : ", the largest run's") +
                    (any_as_dealt(groups) ? ", " + record::name_of(record::Adjacency::as_dealt) : ""));
  else
    out += card("privacy loss", "unbounded", "there is no noise");
  out += decision_cards(groups);
  int completed = 0, all = 0;
  for (const Group& each : groups)
    for (const Run& r : each.runs) {
      completed += r.completed() ? 1 : 0;
      ++all;
    }
  if (all == 1)
    out += card("outcome",
                run.outcome.empty() ? "unknown"
                : run.planned()     ? "not begun"
                                    : run.outcome,
                fmt::format("round {} of {}{}", run.rounds_done,
                            run.planned_rounds() > 0 ? std::to_string(run.planned_rounds()) : "?",
                            run.parts.empty() ? "" : ", in " + std::to_string(run.parts.size()) + " parts"));
  else
    out += card("runs completed", fmt::format("{} of {}", completed, all),
                completed == all ? "" : "the others are marked below");
  if (all > 1 && all_private(groups))
    out += card("all runs together", printed_epsilon(total(groups).epsilon), "ε at most, if they used the same rows");
  if (!one) out += card("settings", std::to_string(groups.size()), "options that differ; the table has each");
  if (one) {
    double records = 0;
    for (const Node& n : run.nodes) records += std::isfinite(n.records) ? n.records : 0;
    out += card("records", count_text(records),
                fmt::format("at {} {}", run.nodes.size() - (run.star ? 1 : 0), run.party ? "parties" : "nodes"));
    const Spread error = over_runs(g, [](const Run& r) { return r.metrics.test_error; });
    if (error.count > 0)
      out += card("test error", in_words(error.mean), [&] {
        const std::string range = range_of(error, in_words);
        return (range.empty() ? "" : range + "; ") + "pooled, not private: " + in_words(run.metrics.test_error_pooled);
      }());
    if (std::isfinite(run.metrics.own_error))
      out += card("error on this party's rows", in_words(run.metrics.own_error),
                  "loss " + value_text(run.metrics.own_loss) + "; " + own_rows_in_words(run));
    const Spread apart = over_runs(g, [](const Run& r) { return last_of(r, &Round::disagreement); });
    if (apart.count > 0)
      out += card("disagreement", value_text(apart.mean), [&] {
        const std::string range = range_of(apart, value_text);
        return range.empty() ? "largest distance from the model" : range;
      }());
  }
  return out + "</section>\n";
}

std::string choices_part(const std::vector<Group>& groups) {
  const std::vector<std::string> lines = best_choices(groups);
  if (lines.empty()) return "";
  const Run& first = groups.front().first();
  const double guessing = first.judged_guessing();
  const std::string beside = std::isfinite(guessing) && std::isfinite(first.judged_error())
                                 ? "<p>Always guessing: " + error_text(first, guessing) + ".</p>\n"
                                 : "";
  return "<section id=\"choice\">\n<h2>Which setting to choose</h2>\n" + list(lines) + beside +
         "<p class=\"note\">By test error. A choice is named where it is better by more than Welch's test allows for "
         "chance (97.5 %). The choice itself looked at these errors: make it on data that is not private.</p>\n"
         "</section>\n";
}

std::string parts_part(const std::vector<Group>& groups) {
  std::string out;
  for (const Group& g : groups) {
    const Run& run = g.first();
    if (run.parts.empty()) continue;
    std::vector<std::vector<std::string>> rows = {{"part", "rounds", "parties", "lost before it"}};
    for (std::size_t p = 0; p < run.parts.size(); ++p) {
      const RunPart& part = run.parts[p];
      rows.push_back({std::to_string(p + 1), fmt::format("{} to {}", part.first + (p == 0 ? 0 : 1), part.last),
                      join(part.parties, ", "),
                      part.lost.empty() ? (p == 0 ? "–" : "an edge") : join(part.lost, ", ")});
    }
    if (!g.name.empty()) out += "<h3>" + escaped(g.name) + "</h3>\n";
    out += table(rows);
  }
  if (out.empty()) return "";
  return "<section id=\"parts\">\n<h2>Parts</h2>\n<p>A party was lost, and the others went on without it, with noise "
         "for what was left of the plan. The privacy loss above covers all parts together "
         "(docs/proofs/run-in-parts.md, "
         "proposition 9); it is not that of one part. What was released after the round from which the next part goes "
         "on is counted, and not drawn.</p>\n" +
         out + "</section>\n";
}

std::string settings_part(const std::vector<Group>& groups) {
  if (groups.size() < 2) return "";
  std::vector<std::vector<std::string>> rows = {{"setting", "runs", "ε", "δ", "disagreement"}};
  const bool errors =
      std::ranges::any_of(groups, [](const Group& g) { return std::isfinite(g.first().metrics.test_error); });
  if (errors) rows[0].push_back("test error");
  rows[0].push_back("");
  for (const Group& g : groups) {
    const Run& run = g.first();
    rows.push_back({g.name, std::to_string(g.runs.size()),
                    printed_epsilon(over_runs(g, [](const Run& r) { return r.covered_epsilon(); }).high),
                    std::isfinite(run.guarantee.delta) ? number(run.guarantee.delta) : "–",
                    spread_text(over_runs(g, [](const Run& r) { return last_of(r, &Round::disagreement); }))});
    if (errors) {
      const auto in_words = [&](double error) { return error_text(run, error); };
      const Spread e = over_runs(g, [](const Run& r) { return r.metrics.test_error; });
      const std::string range = range_of(e, in_words);
      rows.back().push_back(in_words(e.mean) +
                            (range.empty() ? "" : " (" + in_words(e.low) + " to " + in_words(e.high) + ")"));
    }
    std::set<std::string> notes;
    for (const Run& r : g.runs) {
      if (!r.completed()) notes.insert(r.outcome.empty() ? "unreadable" : r.outcome);
      if (!r.guarantee.holds) notes.insert("NOT PRIVATE");
      if (r.guarantee.as_dealt()) notes.insert("ε " + record::name_of(r.guarantee.adjacency));
    }
    rows.back().push_back(join({notes.begin(), notes.end()}, ", "));
  }
  return "<section id=\"settings\">\n<h2>Settings</h2>\n<p class=\"aside\">Runs whose options are equal, up to seed "
         "and place, are "
         "one setting: mean (range over runs).</p>\n" +
         table(rows) + "</section>\n";
}

std::string guarantee_part(const std::vector<Group>& groups) {
  std::string out = "<section id=\"guarantee\">\n<h2>The guarantee, in plain words</h2>\n";
  for (const std::string& text : in_plain_words(groups)) out += paragraph(text);
  out += "<h3>Assumptions</h3>\n" + list(assumptions(groups));
  std::vector<Statement> statements;
  for (const Group& g : groups)
    for (const Run& run : g.runs) statements.insert(statements.end(), run.statements.begin(), run.statements.end());
  if (!statements.empty()) out += "<h3>Statements of the parties</h3>\n";
  for (const Statement& s : statements)
    out += fmt::format("<p><strong>{}</strong>: {}</p>\n", escaped(s.party), escaped(s.words));
  if (!statements.empty())
    out +=
        "<p class=\"note\">As written in statement.json. This page does not check signatures; the command below "
        "does.</p>\n";
  const Check check = how_to_check(groups);
  out += "<h3>How to check</h3>\n" + paragraph(check.noise) + paragraph(check.words) + "<pre>";
  for (const std::string& line : check.commands) out += escaped(line) + "\n";
  return out +
         "</pre>\n<p>Theorems and proofs: docs/proofs of parley; docs/proofs/setting.md lists them.</p>\n</section>\n";
}

std::string options_part(const std::vector<Group>& groups, Audience audience) {
  std::set<std::string> names;
  for (const Group& g : groups)
    for (const auto& [name, value] : g.first().options) names.insert(name);
  std::vector<std::vector<std::string>> rows = {{"option", "value"}};
  for (const std::string& name : names) {
    std::vector<std::string> values;
    for (const Group& g : groups) {
      const std::string value = g.first().option(name);
      const std::string text = value.empty() ? "–" : value;
      if (std::ranges::find(values, text) == values.end()) values.push_back(text);
    }
    constexpr std::size_t most = 6;
    if (values.size() > most) {
      const std::size_t all = values.size();
      values.resize(most);
      values.push_back("… (" + std::to_string(all) + " values)");
    }
    rows.push_back({name, join(values, " | ")});
  }
  std::string out = "<section id=\"options\">\n<h2>Options</h2>\n";
  if (groups.size() > 1) out += "<p class=\"aside\">Values of several settings are separated by |.</p>\n";
  out += "<div class=\"columns\">" + table(rows) +
         "</div>\n<p class=\"note\">–: left open. What the plan made of it is in the table of nodes.</p>\n";
  const int hidden = groups[0].first().options_hidden;
  if (audience == Audience::anyone && hidden > 0)
    out += fmt::format(
        "<p class=\"note\">{} options are not shown: names of files, folders and columns, how files are read, and "
        "where "
        "and how the run was carried out.</p>\n",
        hidden);
  std::vector<std::string> warnings;
  for (const Group& g : groups)
    for (const std::string& w : g.first().warnings)
      if (std::ranges::find(warnings, w) == warnings.end()) warnings.push_back(w);
  if (!warnings.empty()) out += "<h3>Warnings of the planner</h3>\n" + list(warnings);
  return out + "</section>\n";
}

std::string faults_part(const std::vector<Group>& groups) {
  std::vector<std::string> lines;
  for (const Group& g : groups)
    for (std::size_t i = 0; i < g.runs.size(); ++i) {
      const Run& run = g.runs[i];
      std::string who = g.name;
      if (g.runs.size() > 1) who += (who.empty() ? "run " : ", run ") + std::to_string(i + 1);
      if (!run.place.empty()) who += (who.empty() ? "" : " ") + std::string("(") + run.place + ")";
      if (!who.empty()) who += ": ";
      for (const std::string& fault : run.faults) lines.push_back(who + fault);
      if (run.outcome == "running")
        lines.push_back(who + "the run goes on, or was killed: this is what it has left so far");
      else if (!run.outcome.empty() && !run.completed() && !run.planned())
        lines.push_back(who + "the run ended early: " + run.outcome);
    }
  if (lines.empty()) return "";
  constexpr std::size_t most = 50;
  if (lines.size() > most) {
    const std::size_t more = lines.size() - most;
    lines.resize(most);
    lines.push_back("and " + std::to_string(more) + " more");
  }
  return "<section class=\"faults\" aria-label=\"Incomplete records\">\n<h2>Not complete</h2>\n" + list(lines) +
         "</section>\n";
}

}  // namespace parley::report
