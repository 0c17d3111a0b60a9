#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "parley/algorithm/schedule.h"
#include "parley/base/error.h"

namespace parley::cli {
namespace {

struct AccountOptions {
  algorithm::Options algorithm;
  std::vector<double> records{8000};
  std::vector<double> degree{2};
  long nodes = 5;
};

std::vector<Option> own_rows(AccountOptions& o) {
  return {
      {"records", "B_i", "records of a node, one for all nodes or one per node", at_least(1), &o.records, "network"},
      {"nodes", "N", "number of nodes", at_least(2), &o.nodes, "network"},
      {"degree", "V_i", "neighbours of a node, one for all nodes or one per node", at_least(1), &o.degree, "network"}};
}

// Everything that bears on the loss; where the rows come from, and where a run starts, does not.
std::vector<Option> shared_rows(algorithm::Options& o) {
  std::vector<Option> rows;
  for (Option& row : algorithm::option_rows(o))
    if (row.name != "algorithm" && row.name != "start" && row.name != "release-bound") rows.push_back(row);
  return rows;
}

int run_account(const Arguments& arguments) {
  using nlohmann::json;
  if (arguments.words.size() != 1)
    throw Error({.what = "account takes one algorithm",
                 .allowed =
                     [] {
                       std::string all;
                       for (const auto& name : algorithm::algorithm_names()) all += (all.empty() ? "" : ", ") + name;
                       return all;
                     }(),
                 .where = "parley account",
                 .fix = "e.g. parley account mr-admm --records 8000"});
  AccountOptions o;
  o.algorithm.algorithm = algorithm::algorithm_named(arguments.words[0]).name;
  std::vector<Option> rows = own_rows(o);
  const auto shared = shared_rows(o.algorithm);
  rows.insert(rows.end(), shared.begin(), shared.end());
  set_from(arguments, rows);
  validate_options(rows);
  algorithm::Setting setting;
  for (const auto& [values, name] : {std::pair(&o.records, "records"), std::pair(&o.degree, "degree")}) {
    if (values->size() != 1 && static_cast<long>(values->size()) != o.nodes)
      throw Error({.what = std::string(name) + " has " + std::to_string(values->size()) + " values for " +
                           std::to_string(o.nodes) + " nodes",
                   .allowed = "one value, or one per node",
                   .where = std::string("option --") + name});
  }
  for (long i = 0; i < o.nodes; ++i) {
    const auto at = [&](const std::vector<double>& v) { return v.size() == 1 ? v[0] : v[static_cast<std::size_t>(i)]; };
    setting.records.push_back(at(o.records));
    setting.degree.push_back(static_cast<int>(at(o.degree)));
  }
  const bool exact = !arguments.has("tolerance");
  const algorithm::Plan plan = algorithm::make_plan(o.algorithm, setting, exact);
  const auto& first = plan.nodes.front();
  const std::string assumes = exact ? "the exact minimum; --tolerance adds the cost of an approximate one (train does)"
                                    : "a minimum certified to the tolerance";
  if (arguments.has("json")) {
    json nodes = json::array();
    for (const auto& s : plan.nodes)
      nodes.push_back({{"node", s.node},
                       {"epsilon", plan.noisy() ? json(s.epsilon) : json()},
                       {"epsilon_paper", s.epsilon_paper ? json(*s.epsilon_paper) : json()}});
    json out = {{"algorithm", o.algorithm.algorithm},
                {"nodes", o.nodes},
                {"rounds", o.algorithm.rounds},
                {"private_rounds", first.private_rounds.size()},
                {"epsilon", plan.noisy() ? json(plan.epsilon()) : json()},
                {"epsilon_paper", plan.epsilon_paper() ? json(*plan.epsilon_paper()) : json()},
                {"delta", 0},
                {"theorem", first.theorem},
                {"paper_equation", first.paper_equation},
                {"assumes", assumes},
                {"node_results", nodes},
                {"warnings", plan.warnings}};
    if (!plan.epsilon_paper()) out["epsilon_paper_absent"] = plan.epsilon_paper_absent();
    fmt::print("{}\n", out.dump());
    return 0;
  }
  for (const auto& warning : plan.warnings) fmt::print(stderr, "warning: {}\n", warning);
  fmt::print("{} ({}), {} rounds, {} of them touch data\n", first.algorithm.name, first.algorithm.source,
             o.algorithm.rounds, first.private_rounds.size());
  if (!plan.noisy()) {
    fmt::print("{}\n", alarm("no noise, no privacy"));
    return 0;
  }
  fmt::print("{}", table({{"ε proved", epsilon_text(plan.epsilon()), first.theorem},
                          {"ε as printed", plan.epsilon_paper() ? epsilon_text(*plan.epsilon_paper()) : "absent",
                           plan.epsilon_paper() ? first.paper_equation : plan.epsilon_paper_absent()},
                          {"δ", "0", ""}}));
  fmt::print("whole run, largest node, replace-one adjacency; assumes {}\n", assumes);
  return 0;
}

}  // namespace

Command account_command() {
  static AccountOptions defaults;
  static std::string config;
  return {
      .name = "account",
      .summary = "compute the privacy loss of a run without any data",
      .words = "ALGORITHM",
      .rows = shared_rows(defaults.algorithm),
      .own =
          [] {
            auto rows = own_rows(defaults);
            rows.insert(rows.begin(), {"config", "", "TOML file with any of the options below", any_text("a file"),
                                       &config, "Options"});
            return rows;
          }(),
      .flags = {"json"},
      .examples =
          "  parley account mr-admm --records 8000 --nodes 5 --degree 2 --noise-rate 1 --rounds 50\n"
          "  parley account pp --records 8000 --penalty 0.5 --penalty-growth 1.02 --noise-rate 3 --rounds 30 --json\n"
          "  parley account r-admm --records 500,1000,8000 --nodes 3 --degree 2 --tolerance 1e-6\n",
      .run = run_account};
}

}  // namespace parley::cli
