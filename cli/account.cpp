#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "parley/algorithm/schedule.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/privacy/gaussian.h"
#include "parley/privacy/moments.h"

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

// The Gaussian mechanism K times, and DP-ADMM (HHCG20) calibrated per iteration: no schedule needed.
struct GaussianOptions {
  double noise_multiplier = 1, iteration_epsilon = 0.05, iteration_delta = 1e-3, delta = 1e-5;
  long compositions = 1, rounds = 100, records = 210;
};
std::vector<Option> gaussian_rows(GaussianOptions& o, bool dp_admm) {
  std::vector<Option> rows = {{"delta", "delta", "of the whole run", strictly_between(0, 1), &o.delta, "privacy"}};
  if (dp_admm) {
    rows.push_back({"iteration-epsilon", "epsilon", "of one iteration, as HHCG20 Theorem 1 calibrates it", above(0),
                    &o.iteration_epsilon, "privacy"});
    rows.push_back(
        {"iteration-delta", "delta", "of one iteration", strictly_between(0, 1), &o.iteration_delta, "privacy"});
    rows.push_back({"rounds", "T", "iterations", between(1, 100000000), &o.rounds, "privacy"});
    rows.push_back({"records", "m_i", "records of a provider; the loss does not depend on it", at_least(1), &o.records,
                    "privacy"});
  } else {
    rows.push_back({"noise-multiplier", "sigma/Delta", "standard deviation of the noise over the sensitivity", above(0),
                    &o.noise_multiplier, "privacy"});
    rows.push_back(
        {"compositions", "K", "how often the mechanism runs", between(1, 1000000000), &o.compositions, "privacy"});
  }
  return rows;
}

int run_gaussian(const Arguments& arguments, bool dp_admm) {
  GaussianOptions o;
  const auto rows = gaussian_rows(o, dp_admm);
  for (const auto& [name, value] : arguments.values)
    if (name != "config") find_option(rows, name, "parley account " + arguments.words[0]);
  set_from(arguments, rows);
  validate_options(rows);
  const double count = static_cast<double>(dp_admm ? o.rounds : o.compositions);
  const double one = dp_admm ? privacy::dp_admm_mu(o.iteration_epsilon, o.iteration_delta) : 1 / o.noise_multiplier;
  const double mu = std::sqrt(count) * one * (1 + 1e-15);
  const double exact = privacy::gdp_epsilon(mu, o.delta), moments = privacy::moments_epsilon(mu, o.delta);
  const double renyi = privacy::renyi_epsilon(mu, o.delta), zcdp = privacy::zcdp_epsilon(mu, o.delta);
  if (arguments.has("json")) {
    fmt::print("{}\n", nlohmann::json{{"mu", mu},
                                      {"epsilon", exact},
                                      {"delta", o.delta},
                                      {"epsilon_moments", moments},
                                      {"epsilon_renyi", renyi},
                                      {"epsilon_zcdp", zcdp},
                                      {"theorem", "Gaussian DP, exact (Dong, Roth, Su 2022; Balle, Wang 2018)"}}
                           .dump());
    return 0;
  }
  fmt::print("{}", table({{"ε exact (Gaussian DP)", epsilon_text(exact)},
                          {"ε by the moments accountant (HHCG20)", epsilon_text(moments)},
                          {"ε by Rényi DP", epsilon_text(renyi)},
                          {"ε by zCDP", epsilon_text(zcdp)},
                          {"δ", number(o.delta)},
                          {"μ", fmt::format("{:.10g}", mu)}}));
  return 0;
}

int run_account(const Arguments& arguments) {
  using nlohmann::json;
  if (arguments.words.size() == 1 && (arguments.words[0] == "gaussian" || arguments.words[0] == "dp-admm"))
    return run_gaussian(arguments, arguments.words[0] == "dp-admm");
  for (const auto& row : {"noise-multiplier", "compositions", "iteration-epsilon", "iteration-delta"})
    if (arguments.has(row))
      throw Error({.what = std::string("--") + row + " belongs to another account",
                   .where = "parley account",
                   .fix = "use 'parley account gaussian' or 'parley account dp-admm'"});
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
                   .where = std::string("option --") + name,
                   .fix = "give one value, or one per node"});
  }
  for (long i = 0; i < o.nodes; ++i) {
    const auto at = [&](const std::vector<double>& v) { return v.size() == 1 ? v[0] : v[static_cast<std::size_t>(i)]; };
    setting.records.push_back(at(o.records));
    setting.degree.push_back(static_cast<int>(at(o.degree)));
    if (setting.degree.back() > o.nodes - 1)
      throw Error({.what = "a node has more neighbours than there are other nodes",
                   .value = "degree " + number(at(o.degree)) + " with " + std::to_string(o.nodes) + " nodes",
                   .allowed = "at most " + std::to_string(o.nodes - 1),
                   .where = "option --degree",
                   .fix = "raise --nodes or lower --degree"});
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
                {"delta", plan.noisy() ? json(first.delta) : json()},
                {"bound", plan.verified_only() ? "numerically verified" : "proved"},
                {"stamp", plan.noisy() ? "" : "NOT PRIVATE: no noise"},
                {"theorem", plan.noisy() ? first.theorem : ""},
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
                          {"δ", number(first.delta), ""}}));
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
      .words = "ALGORITHM | gaussian | dp-admm",
      .rows = shared_rows(defaults.algorithm),
      .own =
          [] {
            auto rows = own_rows(defaults);
            static GaussianOptions gaussian;
            for (const bool dp_admm : {false, true})
              for (Option& row : gaussian_rows(gaussian, dp_admm))
                if (row.name.starts_with("noise-m") || row.name.starts_with("comp") || row.name.starts_with("iter")) {
                  row.group = "gaussian, dp-admm";
                  rows.push_back(row);
                }
            rows.insert(rows.begin(), {"config", "", "TOML file with any of the options below", any_text("a file"),
                                       &config, "Options"});
            return rows;
          }(),
      .flags = {"json"},
      .examples =
          "  parley account mr-admm --records 8000 --nodes 5 --degree 2 --noise-rate 1 --rounds 50\n"
          "  parley account pp --records 8000 --penalty 0.5 --penalty-growth 1.02 --noise-rate 3 --rounds 30 --json\n"
          "  parley account gaussian --noise-multiplier 16 --compositions 25 --delta 1e-5\n"
          "  parley account dp-admm --iteration-epsilon 0.05 --iteration-delta 1e-3 --rounds 100 --delta 1e-3\n"
          "  parley account r-admm --records 500,1000,8000 --nodes 3 --degree 2 --tolerance 1e-6\n",
      .run = run_account};
}

}  // namespace parley::cli
