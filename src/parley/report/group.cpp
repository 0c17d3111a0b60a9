#include "parley/report/group.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "parley/base/error.h"
#include "parley/base/text.h"

namespace parley::report {
namespace {

// In this order an option names a group; what the planner makes of a budget comes last, if it comes at all.
std::vector<std::string> naming_order(const std::set<std::string>& differing) {
  std::vector<std::string> order;
  for (const char* name : {"algorithm", "epsilon", "delta", "nodes", "graph", "rounds", "loss", "noise", "noise-rate",
                           "noise-scale", "preprocessing", "regularizer"})
    if (differing.contains(name)) order.emplace_back(name);
  for (const std::string& name : differing)
    if (std::ranges::find(order, name) == order.end()) order.push_back(name);
  return order;
}

std::string part_of_name(const Run& run, const std::string& option) {
  const std::string value = run.option(option);
  if (option == "algorithm") return value;
  return (option == "epsilon" ? "ε" : option) + " " + (value.empty() ? "–" : value);
}

void add_part(std::string& name, const std::string& part) {
  if (part.empty()) return;
  name += (name.empty() ? "" : ", ") + part;
}

// Adds an option when it tells apart what the others did not.
void name_by(std::vector<Group>& groups, const std::string& option) {
  const auto distinct = [&](const auto& of) {
    std::set<std::string> names;
    for (const Group& g : groups) names.insert(of(g));
    return names.size();
  };
  const auto longer = [&](const Group& g) {
    std::string name = g.name;
    add_part(name, part_of_name(g.first(), option));
    return name;
  };
  if (distinct(longer) == distinct([](const Group& g) { return g.name; })) return;
  for (Group& g : groups) {
    g.name = longer(g);
    if (option != "epsilon") add_part(g.algorithm, part_of_name(g.first(), option));
  }
}

}  // namespace

std::vector<Group> group_runs(std::vector<Run> runs) {
  std::vector<Group> groups;
  std::vector<std::string> identities;
  for (Run& run : runs) {
    // What is private and what is not never share a line.
    const std::string identity = run.identity.empty() ? "" : run.identity + (run.guarantee.holds ? "" : " NOT PRIVATE");
    const auto at = std::ranges::find(identities, identity);
    if (at != identities.end() && !identity.empty()) {
      groups[static_cast<std::size_t>(at - identities.begin())].runs.push_back(std::move(run));
      continue;
    }
    identities.push_back(identity);
    groups.push_back({.runs = {std::move(run)}});
  }
  if (groups.size() < 2) {
    for (Group& g : groups) g.algorithm = g.first().option("algorithm");
    return groups;
  }
  std::set<std::string> names, differing;
  for (const Group& g : groups)
    for (const auto& [name, value] : g.first().options) names.insert(name);
  for (const std::string& name : names)
    if (std::ranges::any_of(groups,
                            [&](const Group& g) { return g.first().option(name) != groups[0].first().option(name); }))
      differing.insert(name);
  for (const std::string& name : naming_order(differing))
    if (name != "seed" && name != "repeat") name_by(groups, name);
  // Lines of one algorithm stand together, from the smallest budget to the largest.
  std::map<std::string, std::size_t> order;
  for (const Group& g : groups) order.emplace(g.algorithm, order.size());
  std::ranges::stable_sort(groups, [&](const Group& a, const Group& b) {
    const auto key = [&](const Group& g) {
      const double epsilon = g.first().covered_epsilon();
      return std::pair(order.at(g.algorithm), std::isfinite(epsilon) ? epsilon : HUGE_VAL);
    };
    return key(a) < key(b);
  });
  std::map<std::string, int> seen;  // what they differ in may not be shown
  for (Group& g : groups) {
    if (g.name.empty()) g.name = g.first().party ? "study " + g.first().study_hash.substr(0, 8) : "setting";
    if (g.algorithm.empty()) g.algorithm = g.first().option("algorithm");
    for (std::string* name : {&g.name, &g.algorithm}) add_part(*name, mark_of({&g, 1}));
    if (const int n = ++seen[g.name]; n > 1) g.name += " (" + std::to_string(n) + ")";
  }
  return groups;
}

std::string mark_of(std::span<const Group> groups) {
  int all = 0, not_private = 0, as_dealt = 0;
  for (const Group& g : groups)
    for (const Run& run : g.runs) {
      ++all;
      not_private += run.guarantee.holds ? 0 : 1;
      as_dealt += run.guarantee.as_dealt() ? 1 : 0;
    }
  std::string mark = not_private == 0 ? "" : not_private == all ? "NOT PRIVATE" : "some NOT PRIVATE";
  if (as_dealt > 0) add_part(mark, record::name_of(record::Adjacency::as_dealt));
  return mark;
}

std::string in_brackets(const std::string& mark) {
  return mark.empty() ? "" : " (" + mark + ")";
}

Spread spread(const std::vector<double>& values) {
  Spread s;
  double sum = 0;
  for (const double v : values) {
    if (!std::isfinite(v)) continue;
    sum += v;
    s.low = s.count == 0 ? v : std::min(s.low, v);
    s.high = s.count == 0 ? v : std::max(s.high, v);
    ++s.count;
  }
  if (s.count > 0) s.mean = std::clamp(sum / s.count, s.low, s.high);
  return s;
}

Spread over_runs(const Group& group, const std::function<double(const Run&)>& of) {
  std::vector<double> values;
  for (const Run& run : group.runs) values.push_back(of(run));
  return spread(values);
}

Line over_rounds(const Group& group, const std::function<double(const Round&)>& of) {
  std::map<int, std::vector<double>> by_round;
  for (const Run& run : group.runs)
    for (const Round& round : run.rounds)
      if (std::isfinite(of(round))) by_round[round.round].push_back(of(round));
  Line line{.name = group.name.empty() ? "this run" + in_brackets(mark_of({&group, 1})) : group.name};
  bool ranges = false;
  for (const auto& [round, values] : by_round) {
    const Spread s = spread(values);
    line.x.push_back(round);
    line.mean.push_back(s.mean);
    line.low.push_back(s.low);
    line.high.push_back(s.high);
    ranges = ranges || s.low < s.high;
  }
  if (!ranges) {
    line.low.clear();
    line.high.clear();
  }
  return line;
}

const Run& worst(const std::vector<Group>& groups) {
  expects(!groups.empty(), "a group");
  const Run* most = &groups[0].first();
  for (const Group& g : groups)
    for (const Run& run : g.runs)
      if (std::isnan(run.covered_epsilon()))
        return run;  // no bound at all
      else if (run.covered_epsilon() > most->covered_epsilon())
        most = &run;
  return *most;
}

}  // namespace parley::report
