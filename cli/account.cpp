#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/account_noise.h"
#include "cli/commands.h"
#include "cli/terminal.h"
#include "parley/algorithm/rules.h"
#include "parley/base/error.h"
#include "parley/base/printed.h"
#include "parley/base/text.h"
#include "parley/privacy/gaussian.h"
#include "parley/privacy/moments.h"
#include "parley/record/adjacency.h"
#include "parley/run/claim.h"

namespace parley::cli {
namespace {

using nlohmann::json;

struct AccountOptions {
  algorithm::Options algorithm;
  NoiseOptions noise;
  std::vector<double> records{8000};
  std::vector<double> degree{2};
  long nodes = 5, features = 0, rows_per_person = 0;
};

std::vector<Option> own_rows(AccountOptions& o) {
  std::vector<Option> rows = {
      {"records", "B_i", "records of a node, one for all nodes or one per node", at_least(1), &o.records, "network"},
      {"nodes", "N", "number of nodes", at_least(2), &o.nodes, "network"},
      {"degree", "V_i", "neighbours of a node, one for all nodes or one per node", at_least(1), &o.degree, "network"},
      {"features", "d", "features, where a plan depends on them (gamma noise, l1 step sizes)", at_least(0), &o.features,
       "network"},
      algorithm::rows_per_person_row(o.rows_per_person)};
  for (const Option& row : noise_rows(o.noise)) rows.push_back(row);
  return rows;
}

// Everything that bears on the loss; where the rows come from, and where a run starts, does not.
std::vector<Option> shared_rows(algorithm::Options& o) {
  std::vector<Option> rows;
  for (const Option& row : algorithm::option_rows(o))
    if (row.name != "algorithm" && row.name != "start" && row.name != "release-bound") rows.push_back(row);
  return rows;
}

// What Gaussian rounds of total mu cost, exactly and by the older accountants.
struct Accountants {
  double mu, epsilon, moments, renyi, zcdp;
};

Accountants accountants(double mu, double delta) {
  return {mu, privacy::gdp_epsilon(mu, delta), privacy::moments_epsilon(mu, delta), privacy::renyi_epsilon(mu, delta),
          privacy::zcdp_epsilon(mu, delta)};
}

json to_json(const Accountants& a) {
  return {{"mu", a.mu}, {"epsilon_moments", a.moments}, {"epsilon_renyi", a.renyi}, {"epsilon_zcdp", a.zcdp}};
}

void print(const Accountants& a) {
  fmt::print("{}", table({{"ε exact (Gaussian DP)", printed_epsilon(a.epsilon)},
                          {"ε by the moments accountant (HHCG20)", printed_epsilon(a.moments)},
                          {"ε by Rényi DP", printed_epsilon(a.renyi)},
                          {"ε by zCDP", printed_epsilon(a.zcdp)},
                          {"μ", fmt::format("{:.10g}", a.mu)}}));
}

// The Gaussian mechanism K times: no schedule needed.
struct GaussianOptions {
  double noise_multiplier = 1, delta = 1e-5;
  long compositions = 1;
};
std::vector<Option> gaussian_rows(GaussianOptions& o) {
  return {{"delta", "delta", "of the whole run", strictly_between(0, 1), &o.delta, "privacy"},
          {"noise-multiplier", "sigma/Delta", "standard deviation of the noise over the sensitivity", above(0),
           &o.noise_multiplier, "gaussian"},
          {"compositions", "K", "how often the mechanism runs", between(1, 1000000000), &o.compositions, "gaussian"}};
}

int run_gaussian(const Arguments& arguments) {
  GaussianOptions o;
  const auto rows = gaussian_rows(o);
  for (const auto& [name, value] : arguments.values)
    if (name != "config") find_option(rows, name, "parley account " + arguments.words[0]);
  set_from(arguments, rows);
  validate_options(rows);
  const Accountants a =
      accountants(std::sqrt(static_cast<double>(o.compositions)) / o.noise_multiplier * (1 + 1e-15), o.delta);
  say_first(run::too_large_epsilon(a.epsilon));
  if (arguments.has("json")) {
    json out = to_json(a);
    out.update({{"epsilon", a.epsilon},
                {"delta", o.delta},
                {"theorem", "Gaussian DP, exact (Dong, Roth, Su 2022; Balle, Wang 2018)"}});
    fmt::print("{}\n", out.dump());
  } else {
    print(a);
    fmt::print("at δ = {}\n", number(o.delta));
  }
  return 0;
}

// Of the node that spends most; nothing unless every round is Gaussian.
std::optional<Accountants> gaussian_rounds(const algorithm::Plan& plan) {
  const auto& worst = *std::ranges::max_element(plan.nodes, {}, &algorithm::Schedule::epsilon);
  if (worst.noise != algorithm::Noise::gaussian) return std::nullopt;
  std::vector<double> mus;
  for (const auto& r : worst.private_rounds) mus.push_back(r.charge.mu);
  return accountants(privacy::gdp_compose(mus), worst.delta);
}

std::string chosen_algorithm(const Arguments& arguments) {
  for (const char* row : {"noise-multiplier", "compositions"})
    if (arguments.has(row))
      throw Error({.what = std::string("--") + row + " belongs to another account",
                   .where = "parley account",
                   .fix = "use 'parley account gaussian'"});
  if (arguments.words.size() != 1)
    throw Error({.what = "account takes one algorithm",
                 .allowed = join(algorithm::algorithm_names(), ", ") + ", gaussian",
                 .where = "parley account",
                 .fix = "e.g. parley account mr-admm --records 8000"});
  return algorithm::algorithm_named(arguments.words[0]).name;
}

algorithm::Setting setting_of(const AccountOptions& o) {
  algorithm::Setting setting;
  algorithm::check_list(o.records, "records", static_cast<int>(o.nodes));
  algorithm::check_list(o.degree, "degree", static_cast<int>(o.nodes));
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
  setting.features = o.features;
  setting.rows_per_person = o.rows_per_person;
  const std::size_t weighed =
      std::max(split_list(o.algorithm.class_weight.text).size(), o.algorithm.class_share.size());
  setting.classes = std::max(setting.classes, static_cast<int>(weighed));  // softmax: how many have a weight
  return setting;
}

json account_json(const algorithm::Plan& plan, const std::string& assumes) {
  const auto& first = plan.nodes.front();
  json nodes = json::array();
  for (const auto& s : plan.nodes)
    nodes.push_back({{"node", s.node},
                     {"epsilon", plan.noisy() ? json(s.epsilon) : json()},
                     {"epsilon_all_others", plan.noisy() ? json(s.epsilon_all_others) : json()},
                     {"epsilon_paper", s.epsilon_paper ? json(*s.epsilon_paper) : json()}});
  json out = {{"algorithm", plan.options.algorithm},
              {"nodes", plan.nodes.size()},
              {"rounds", plan.options.rounds},
              {"private_rounds", first.private_rounds.size()},
              {"epsilon", plan.noisy() ? json(plan.epsilon()) : json()},
              {"epsilon_all_others", plan.noisy() ? json(plan.epsilon_all_others()) : json()},
              {"against", run::against_whom(plan.sharing())},
              {"epsilon_paper", plan.epsilon_paper() ? json(*plan.epsilon_paper()) : json()},
              {"delta", plan.noisy() ? json(first.delta) : json()},
              {"bound", plan.verified_only() ? "numerically verified" : "proved"},
              {"unit", first.rows_per_person > 0 ? "person" : "row"},
              {"rows_per_person", first.rows_per_person},
              {"stamp", plan.noisy() ? "" : "NOT PRIVATE: no noise"},
              {"theorem", plan.noisy() ? first.theorem : ""},
              {"paper_equation", first.paper_equation},
              {"assumes", assumes},
              {"node_results", nodes},
              {"warnings", plan.warnings}};
  if (!plan.epsilon_paper()) out["epsilon_paper_absent"] = plan.epsilon_paper_absent();
  if (const auto a = gaussian_rounds(plan)) out.update(to_json(*a));
  return out;
}

void print_account(const algorithm::Plan& plan, const std::string& assumes) {
  const auto& first = plan.nodes.front();
  fmt::print("{} ({}), {} rounds, {} of them touch data\n", first.algorithm.name, first.algorithm.source,
             plan.options.rounds, first.private_rounds.size());
  if (!plan.noisy()) {
    fmt::print("{}\n", alarm("no noise, no privacy"));
    return;
  }
  if (plan.sharing().on())
    fmt::print("ε against {}: {}\nbelow, against all others together\n", run::against_whom(plan.sharing()),
               printed_epsilon(plan.epsilon()));
  fmt::print("{}", table({{"ε proved", printed_epsilon(plan.epsilon_all_others()), first.theorem},
                          {"ε as printed", plan.epsilon_paper() ? printed_epsilon(*plan.epsilon_paper()) : "absent",
                           plan.epsilon_paper() ? first.paper_equation : plan.epsilon_paper_absent()},
                          {"δ", number(first.delta), ""}}));
  if (const auto a = gaussian_rounds(plan)) print(*a);
  fmt::print("per {}, whole run, largest node, replace-one adjacency; assumes {}\n",
             record::unit_in_words(first.rows_per_person), assumes);
}

int run_account(const Arguments& arguments) {
  if (arguments.words.size() == 1 && arguments.words[0] == "gaussian") return run_gaussian(arguments);
  AccountOptions o;
  o.algorithm.algorithm = chosen_algorithm(arguments);
  std::vector<Option> rows = own_rows(o);
  const auto shared = shared_rows(o.algorithm);
  rows.insert(rows.end(), shared.begin(), shared.end());
  set_from(arguments, rows);
  validate_options(rows);
  const bool exact = !arguments.has("tolerance");
  const NoiseAsUsed noise(o.noise, o.algorithm, static_cast<int>(o.nodes));
  algorithm::Plan plan = algorithm::make_plan(o.algorithm, setting_of(o), exact);
  noise.price_again(plan);
  const std::string assumes = plan.nodes.front().sums ? "sums over rows, with their rounding"
                              : exact
                                  ? "the exact minimum; --tolerance adds the cost of an approximate one (train does)"
                                  : "a minimum certified to the tolerance";
  say_first(run::too_large_epsilon(plan));
  if (arguments.has("json")) {
    fmt::print("{}\n", account_json(plan, assumes).dump());
    return 0;
  }
  for (const auto& warning : plan.warnings) fmt::print(stderr, "warning: {}\n", warning);
  print_account(plan, assumes);
  return 0;
}

}  // namespace

Command account_command() {
  static AccountOptions defaults;
  static std::string config;
  return {
      .name = "account",
      .summary = "compute the privacy loss of a run without any data",
      .words = "ALGORITHM | gaussian",
      .rows = shared_rows(defaults.algorithm),
      .own =
          [] {
            auto rows = own_rows(defaults);
            static GaussianOptions gaussian;
            for (const Option& row : gaussian_rows(gaussian))
              if (row.group == "gaussian") rows.push_back(row);
            rows.insert(rows.begin(), {"config", "", "TOML file with any of the options below", any_text("a file"),
                                       &config, "Options"});
            return rows;
          }(),
      .flags = {"json"},
      .basic = {"config", "records", "nodes", "degree", "delta", "rounds", "noise-rate", "noise-scale",
                "noise-multiplier", "compositions", "penalty", "loss-weight", "regularization"},
      .examples =
          "  parley account mr-admm --records 8000 --nodes 5 --degree 2 --noise-rate 1 --rounds 50\n"
          "  parley account pp --records 8000 --penalty 0.5 --penalty-growth 1.02 --noise-rate 3 --rounds 30 --json\n"
          "  parley account gaussian --noise-multiplier 16 --compositions 25 --delta 1e-5\n"
          "  parley account dp-admm --records 210 --iteration-epsilon 0.05 --iteration-delta 1e-3 --rounds 100 --delta "
          "1e-3\n"
          "  parley account r-admm --records 500,1000,8000 --nodes 3 --degree 2 --tolerance 1e-6\n",
      .run = run_account};
}

}  // namespace parley::cli
