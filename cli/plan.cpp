#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands.h"
#include "cli/plan_record.h"
#include "cli/terminal.h"
#include "parley/algorithm/newton/newton_plan.h"
#include "parley/algorithm/planner.h"
#include "parley/base/error.h"
#include "parley/base/printed.h"
#include "parley/base/text.h"
#include "parley/record/adjacency.h"
#include "parley/run/claim.h"
#include "parley/run/setting.h"
#include "parley/run/simulation.h"
#include "parley/theory/verdict.h"

namespace parley::cli {
namespace {

struct PlanOptions {
  algorithm::Options algorithm;
  network::GraphOptions graph;
  std::vector<double> records{8000};
  long nodes = 5, features = 0, classes = 3, rows_per_person = 0;
};

std::vector<Option> rows(PlanOptions& o) {
  std::vector<Option> list = {
      {"nodes", "N", "number of nodes", between(2, 100000), &o.nodes, "network"},
      {"records", "B_i", "records of a node, one for all nodes or one per node", at_least(1), &o.records, "network"},
      {"features", "d", "features, for the forecast (and for planning gamma noise)", at_least(0), &o.features,
       "network"},
      {"classes", "K", "softmax: classes of the label", at_least(2), &o.classes, "network"},
      algorithm::rows_per_person_row(o.rows_per_person)};
  for (const Option& row : network::option_rows(o.graph)) list.push_back(row);
  for (const Option& row : algorithm::option_rows(o.algorithm))
    if (row.name != "start" && row.name != "release-bound") list.push_back(row);
  return list;
}

std::string list(const std::vector<double>& values) {
  std::vector<std::string> parts;
  for (const double v : values) parts.push_back(fmt::format("{:.6g}", v));
  return join(parts, ",");
}

// Of round 1 at the nodes.
std::string range(const algorithm::Plan& plan, const std::function<double(const algorithm::Schedule&)>& of) {
  double low = 1e300, high = 0;
  for (const auto& s : plan.nodes) {
    low = std::min(low, of(s));
    high = std::max(high, of(s));
  }
  const std::string first = fmt::format("{:.4g}", low), last = fmt::format("{:.4g}", high);
  return first == last ? first + " at every node" : first + " to " + last;
}

// The budgets, where nodes have their own.
std::string by_node(const algorithm::Plan& plan) {
  std::vector<std::string> all;
  for (const auto& s : plan.nodes) all.push_back(printed_epsilon(s.epsilon));
  constexpr std::size_t most = 12;
  const bool same = std::ranges::all_of(all, [&](const std::string& e) { return e == all[0]; });
  if (same) return "";
  return all.size() > most ? "; the largest node's" : "; the largest node's, by node: " + join(all, ", ");
}

// As it is typed: what a shell would not leave alone stands in quotes.
std::string typed(const nlohmann::json& value) {
  std::string text;
  if (value.is_array())
    for (const auto& v : value) text += (text.empty() ? "" : ",") + typed(v);
  else
    text = value.is_string() ? value.get<std::string>() : value.is_number_float() ? number(value) : value.dump();
  const bool plain = std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("._-+,/:").find(c) != std::string_view::npos;
  });
  return plain && !text.empty() ? text : "'" + text + "'";
}

// The run of this plan: every option that train has too and that differs from its default, and what was filled in.
std::string train_command(const algorithm::Plan& plan, const PlanOptions& o) {
  PlanOptions asked = o, defaults;
  asked.algorithm.rounds = plan.options.rounds;
  asked.algorithm.delta = plan.nodes.front().delta;
  const auto now = rows(asked), before = rows(defaults);
  std::string command = "parley train --algorithm " + plan.options.algorithm;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const std::string& name = now[i].name;
    if (name == "algorithm" || name == "records" || name == "features" || name == "classes" ||
        name == "rows-per-person")
      continue;
    const auto value = option_value(now[i]);
    if (name == "nodes" || value != option_value(before[i])) command += " --" + name + " " + typed(value);
  }
  return command;
}

nlohmann::json node_plans(const algorithm::Plan& plan) {
  nlohmann::json nodes = nlohmann::json::array();
  for (const auto& s : plan.nodes) {
    const auto& r = s.private_rounds.front();
    nodes.push_back({{"node", s.node},
                     {"epsilon", s.epsilon},
                     {"epsilon_all_others", s.epsilon_all_others},
                     {"penalty", r.penalty},
                     {"strong_convexity", r.strong_convexity},
                     {"objective_scale", r.objective_scale},
                     {"output_scale", r.output_scale},
                     {"objective_rate", r.objective_rate},
                     {"output_rate", r.output_rate},
                     {"gradient_scale", r.gradient_scale},
                     {"gradient_rate", r.gradient_rate}});
  }
  return nodes;
}

struct Planned {
  algorithm::Selected selected;
  algorithm::Plan plan;
  std::string convergence;
  nlohmann::json record;  // what 'parley report' makes a page of
};

nlohmann::json plan_json(const Planned& planned) {
  const algorithm::Plan& plan = planned.plan;
  const auto& p = plan.options;
  const auto& first = plan.nodes.front();
  nlohmann::json out = {{"algorithm", p.algorithm},
                        {"selection", run::to_json(planned.selected)},
                        {"rounds", p.rounds},
                        {"private_rounds", first.private_rounds.size()},
                        {"noise", p.noise.text},
                        {"noise_on", p.noise_on.text},
                        {"epsilon", plan.epsilon()},
                        {"epsilon_all_others", plan.epsilon_all_others()},
                        {"against", run::against_whom(plan.sharing())},
                        {"delta", first.delta},
                        {"average", first.sums ? first.sums->average : plan.average},
                        {"unit", first.rows_per_person > 0 ? "person" : "row"},
                        {"rows_per_person", first.rows_per_person},
                        {"theorem", first.theorem},
                        {"bound", plan.verified_only() ? "numerically verified" : "proved"},
                        {"convergence", planned.convergence},
                        {"node_results", node_plans(plan)},
                        {"forecast", run::forecast_json(plan)},
                        {"record", planned.record},
                        {"warnings", plan.warnings}};
  if (const auto nu = run::noise_to_signal(plan)) out["noise_to_signal"] = *nu;
  if (first.sums) {
    out.update({{"clip", *p.clip},
                {"curvature", p.curvature.text},
                {"curvature_share", *p.curvature_share},
                {"regularization", *p.regularization}});
    return out;
  }
  out.update({{"penalty", p.penalty}, {"penalty_growth", p.penalty_growth}, {"damping", *p.damping}});
  return out;
}

void line(const std::string& name, const std::string& text) {
  fmt::print("  {:<18} {}\n", name, text);
}

void print_guarantee(const algorithm::Plan& plan) {
  const auto& first = plan.nodes.front();
  line("guarantee", fmt::format("ε = {}, δ = {} per {}, whole run ({}{})", printed_epsilon(plan.epsilon()),
                                number(first.delta), record::unit_in_words(first.rows_per_person),
                                plan.verified_only() ? "numerically verified" : "proved", by_node(plan)));
  if (plan.sharing().on()) {
    line("", "against " + run::against_whom(plan.sharing()));
    line("", "against all others together: ε = " + printed_epsilon(plan.epsilon_all_others()));
  }
  line("by", first.theorem);
}

void print_command(const algorithm::Plan& plan, const PlanOptions& o) {
  if (o.rows_per_person > 0)
    return fmt::print("\n{} (with 'person' and rows_per_person = {} in the schema)\n  {} --data FILE --schema FILE\n",
                      bold("Run it"), o.rows_per_person, train_command(plan, o));
  fmt::print("\n{} (with --data and --schema: on your rows; without: on built-in synthetic ones)\n  {}\n",
             bold("Run it"), train_command(plan, o));
}

void print_forecast(const algorithm::Plan& plan) {
  for (const auto& [what, text] : run::forecast_lines(plan)) line(what, text);
  if (plan.features == 0)
    line("expect", "give --features for a forecast; where slopes are cut, and so the noise, follows from it too");
}

// Of the algorithms that exchange sums over rows.
void print_rest_of_sums(const algorithm::Plan& plan, const PlanOptions& o) {
  line("settings", algorithm::newton::in_words(plan));
  line("model", "mean of the points after the later half of the rounds (free)");
  print_guarantee(plan);
  print_forecast(plan);
  print_command(plan, o);
}

void print_plan(const Planned& planned, const PlanOptions& o) {
  const algorithm::Plan& plan = planned.plan;
  const auto& p = plan.options;
  const auto& first = plan.nodes.front();
  fmt::print("{}\n", bold("Plan"));
  line("algorithm", run::in_words(planned.selected));
  line("rounds",
       fmt::format("{}, {} of them touch data ({})", p.rounds, first.private_rounds.size(), first.algorithm.source));
  line("noise", fmt::format("{}, {}", first.noise == algorithm::Noise::gaussian ? "Gaussian" : "gamma",
                            first.sums                                  ? "on sums over rows"
                            : p.noise_on == algorithm::Place::objective ? "in the objective"
                                                                        : "on the " + p.noise_on.text));
  if (first.sums) return print_rest_of_sums(plan, o);
  line("penalty", list(p.penalty) +
                      (plan.star() ? ", which is the dual step too" : "; one common dual step, the smallest of them"));
  if (first.algorithm.growing)
    line("growth",
         fmt::format(
             "{} a private round{}", list(p.penalty_growth),
             p.penalty_growth == std::vector<double>{1} ? " (none: with averaged iterates it gains nothing)" : ""));
  if (first.algorithm.linear)
    line("step size",
         fmt::format("{:.4g} in round 1, {:.4g} in the last, for a solution of norm up to {:.4g}",
                     first.private_rounds.front().step_size, first.private_rounds.back().step_size, *p.solution_bound));
  if (first.algorithm.recycled) line("damping", fmt::format("{:.6g}", *p.damping));
  line(first.noise == algorithm::Noise::gaussian ? "noise scale" : "noise rate",
       range(plan, algorithm::first_noise_level) + " in round 1");
  if (first.noise == algorithm::Noise::gaussian && first.place == algorithm::Place::objective)
    line("sigma/kappa", range(plan, [](const algorithm::Schedule& s) {
           return s.private_rounds.front().objective_scale / s.private_rounds.front().strong_convexity;
         }));
  line("model", plan.average  ? "mean of the released iterates over the later half of the rounds (free)"
                : plan.star() ? "the trainer's last"
                              : "mean of the last iterates");
  print_guarantee(plan);
  line("convergence", planned.convergence + " (without noise; parley check has the numbers)");
  print_forecast(plan);
  print_command(plan, o);
}

int run_plan(const Arguments& arguments) {
  PlanOptions o;
  set_from(arguments, rows(o));
  validate_options(rows(o));
  if (o.algorithm.epsilon.empty())
    throw Error({.what = "a plan starts from a budget",
                 .where = "option --epsilon",
                 .fix = "e.g. parley plan --epsilon 1 --delta 1e-5 --records 8000 --features 60"});
  const algorithm::RowSize size{
      .features = o.features, .parties = static_cast<int>(o.nodes), .classes = static_cast<int>(o.classes)};
  Planned planned{
      .selected = algorithm::select_algorithm(o.algorithm, false, size), .plan = {}, .convergence = "", .record = {}};
  algorithm::Options options = o.algorithm;
  options.algorithm = planned.selected.algorithm;
  const network::Graph graph = run::graph_for(o.graph, options.algorithm, static_cast<int>(o.nodes));
  algorithm::Setting setting = run::setting_on(graph, o.records, static_cast<int>(o.nodes));
  setting.features = o.features;
  setting.classes = static_cast<int>(o.classes);
  setting.rows_per_person = o.rows_per_person;
  planned.plan = algorithm::make_plan(options, setting);
  planned.convergence = theory::convergence_verdict(graph, planned.plan, setting);
  say_first(run::too_large_epsilon(planned.plan));
  if (arguments.has("json")) {
    planned.record = planned_record(planned.plan, planned.selected, graph, setting, o.graph);
    fmt::print("{}\n", plan_json(planned).dump());
    return 0;
  }
  for (const auto& warning : planned.plan.warnings) fmt::print(stderr, "warning: {}\n", warning);
  print_plan(planned, o);
  return 0;
}

}  // namespace

Command plan_command() {
  static PlanOptions defaults;
  static std::string config;
  return {
      .name = "plan",
      .summary = "choose algorithm and noise for a budget and say what to expect, without any data",
      .rows = rows(defaults),
      .own = {{"config", "", "TOML file with any of the options below", any_text("a file"), &config, "Options"}},
      .flags = {"json"},
      .basic = {"config", "epsilon", "delta", "records", "nodes", "features", "classes", "algorithm", "loss", "graph"},
      .examples =
          "  parley plan --epsilon 1 --delta 1e-5 --records 8000 --nodes 5 --features 60\n"
          "  parley plan --epsilon 0.5,1,2 --nodes 3 --records 500,1000,8000 --graph complete --features 60 --json\n",
      .run = run_plan};
}

}  // namespace parley::cli
