// What the papers' theorems say about a planned run, before data is touched (docs/check/theory.md).
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/check_report.h"
#include "cli/commands.h"
#include "cli/terminal.h"
#include "parley/algorithm/schedule.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/run/setting.h"
#include "parley/run/simulation.h"

namespace parley::cli {
namespace {

using nlohmann::json;

constexpr long most_nodes = 500;

std::vector<Option> own_rows(CheckOptions& o) {
  std::vector<Option> rows = {
      {"nodes", "N", "number of nodes", between(2, most_nodes), &o.nodes, "network"},
      {"records", "B_i, m_i", "records of a node, one for all nodes or one per node", at_least(1), &o.records,
       "network"},
      {"dimension", "d", "features; in sample sizes and dp-admm", at_least(1), &o.dimension, "problem"},
      {"target-excess", "tau",
       "asks for the records that ZKL20 Theorems 3, 4 need for this excess loss (r-admm, mr-admm)", above(0),
       &o.target_excess, "sample size"},
      {"failure-probability", "delta", "probability that the excess loss is larger", strictly_between(0, 1),
       &o.sample.failure_probability, "sample size"},
      {"reference-norm", "|f_ref|", "norm of the classifier that is compared with", above(0), &o.sample.reference_norm,
       "sample size"},
      {"optimality-gap", "Delta_i(k)", "excess loss of the iterate over the limit of the run", at_least(0),
       &o.sample.optimality_gap, "sample size"},
      {"sample-constant", "w", "the constant that Theorems 3, 4 leave open", above(0), &o.sample.constant,
       "sample size"},
      {"sample-slack", "a", "the constant a of Theorem 4", above(0), &o.sample.slack, "sample size"},
      {"disagreement-weight", "beta", "dp-admm: weight of the disagreement in what is bounded", at_least(0),
       &o.disagreement_weight, "dp-admm"},
  };
  for (const Option& row : network::option_rows(o.graph)) rows.push_back(row);
  return rows;
}

// What bears on convergence; the solver's tolerance, the start and the clamp do not.
std::vector<Option> checked_rows(algorithm::Options& o) {
  std::vector<Option> rows;
  for (const Option& row : algorithm::option_rows(o))
    if (row.name != "algorithm" && row.name != "start" && row.name != "release-bound" && row.name != "tolerance")
      rows.push_back(row);
  return rows;
}

int run_check(const Arguments& arguments) {
  const auto names = algorithm::algorithm_names();
  if (arguments.words.size() != 1)
    throw Error({.what = "check takes one algorithm",
                 .allowed = join(names, ", "),
                 .where = "parley check",
                 .fix = "e.g. parley check r-admm --graph complete"});
  CheckOptions o;
  const algorithm::Algorithm& a = algorithm::algorithm_named(arguments.words[0]);
  if (a.sums)
    throw Error({.what = a.name + " has no penalty and no graph on which its convergence depends",
                 .value = a.name,
                 .where = "parley check",
                 .fix = "see docs/check/newton.md; 'parley plan --algorithm " + a.name + "' says what to expect"});
  o.algorithm.algorithm = a.name;
  std::vector<Option> rows = own_rows(o);
  for (const Option& row : checked_rows(o.algorithm)) rows.push_back(row);
  set_from(arguments, rows);
  validate_options(rows);
  if (o.algorithm.rounds == 0) o.algorithm.rounds = 50;
  Report out;
  out.values = {{"algorithm", arguments.words[0]}, {"nodes", o.nodes}, {"rounds", o.algorithm.rounds}};
  const network::Graph graph = run::graph_for(o.graph, a.name, static_cast<int>(o.nodes));
  const algorithm::Setting setting = run::setting_on(graph, o.records, static_cast<int>(o.nodes));
  if (a.star || a.linear) {
    out.text = fmt::format("{} ({}), {} {}, {} rounds\n", a.name, a.source, o.nodes,
                           a.star ? "data providers" : "nodes", o.algorithm.rounds);
    if (a.star && a.linear)
      star(out, o, setting);
    else
      out.note(a.linear
                   ? "No theorem of the papers covers linear-admm; docs/results/results.md says what was measured."
                   : "Consensus ADMM of a convex problem converges for every penalty > 0 (Boyd et al. 2011, 3.2.1); "
                     "HHCG20 prove nothing about it.");
  } else {
    const algorithm::Plan plan = algorithm::make_plan(o.algorithm, setting, true);
    const theory::PublicRun run = theory::run_of(plan, setting);
    out.text = fmt::format(
        "{} ({}), {} nodes, {} edges{}, {} rounds, {} of them touch data\nlocal curvature from m = {} to M = {}\n",
        a.name, a.source, o.nodes, graph.edges().size(), graph.bipartite() ? " (bipartite)" : "", o.algorithm.rounds,
        run.penalty.size(), short_number(run.least_curvature.minCoeff()), short_number(run.most_curvature.maxCoeff()));
    out.values.update({{"bipartite", graph.bipartite()},
                       {"least_curvature", run.least_curvature.minCoeff()},
                       {"most_curvature", run.most_curvature.maxCoeff()}});
    spectra(out, graph, run);
    if (a.recycled)
      recycled(out, graph, run, plan);
    else
      modified(out, graph, run);
    limit(out, graph, run, o, plan);
    if (a.recycled) samples(out, o, plan, setting);
  }
  fmt::print("{}", arguments.has("json") ? out.values.dump() + "\n" : out.text);
  return 0;
}

}  // namespace

Command check_command() {
  static CheckOptions defaults;
  static std::string config;
  return {
      .name = "check",
      .summary = "what the papers' convergence theorems say about a run, without any data",
      .words = "ALGORITHM",
      .rows = checked_rows(defaults.algorithm),
      .own =
          [] {
            auto rows = own_rows(defaults);
            rows.insert(rows.begin(), {"config", "", "TOML file with any of the options below", any_text("a file"),
                                       &config, "Options"});
            return rows;
          }(),
      .flags = {"json"},
      .basic = {"config", "nodes", "graph", "records", "rounds", "penalty", "loss-weight", "regularization",
                "noise-rate"},
      .examples =
          "  parley check r-admm --nodes 5 --graph complete --loss-weight 1\n"
          "  parley check m-admm --penalty 0.55,0.65,0.6,0.55,0.6 --penalty-growth 1.01,1.03,1.1,1.2,1.02 --dual-step "
          "0.5\n"
          "  parley check mr-admm --graph 0-2,0-3,2-3,1-4,3-4 --target-excess 0.05 --reference-norm 10 --noise-rate 1\n"
          "  parley check dp-admm --nodes 100 --records 210 --rounds 100 --dimension 14 --loss-weight 1 "
          "--regularization 0.17 --iteration-epsilon 0.05 --solution-bound 5\n",
      .run = run_check};
}

}  // namespace parley::cli
