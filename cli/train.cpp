#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <system_error>

#include "cli/commands.h"
#include "cli/live_view.h"
#include "cli/load_view.h"
#include "cli/stop.h"
#include "cli/terminal.h"
#include "parley/algorithm/newton/newton_plan.h"
#include "parley/base/error.h"
#include "parley/base/printed.h"
#include "parley/base/text.h"
#include "parley/network/ranks.h"
#include "parley/network/together.h"
#include "parley/run/claim.h"
#include "parley/run/setting.h"
#include "parley/run/simulate.h"

namespace parley::cli {
namespace {

void print_start(const run::Simulation& s, const run::TrainOptions& o, bool to_stderr) {
  const auto& first = s.plan.nodes.front();
  std::FILE* to = to_stderr ? stderr : stdout;
  fmt::print(to, "{} ({}, {}) {}\n", first.algorithm.name, first.algorithm.title, first.algorithm.source,
             s.plan.star() ? fmt::format("between {} data providers and a trainer", s.parties())
                           : fmt::format("between {} nodes, graph {}", s.parties(),
                                         run::graph_shape(o.graph, first.algorithm.name)));
  if (s.selected.by_planner()) fmt::print(to, "chosen by the planner: {}\n", s.selected.because);
  if (first.sums) {
    fmt::print(to, "{}\n", algorithm::newton::in_words(s.plan));
  } else if (first.noise != algorithm::Noise::none) {
    const auto& round = first.private_rounds.front();
    const bool gaussian = first.noise == algorithm::Noise::gaussian;
    fmt::print(to, "{} noise {}: {} {:.4g} at node 0, penalty {:.4g}{}{}\n", gaussian ? "Gaussian" : "gamma",
               first.place == algorithm::Place::objective  ? "in the objective"
               : first.place == algorithm::Place::gradient ? "on the gradient"
                                                           : "on the output",
               gaussian ? "scale" : "rate", algorithm::first_noise_level(first), round.penalty,
               first.algorithm.linear ? fmt::format(", step size {:.4g} in round 1", round.step_size) : "",
               s.plan.average ? "; the model is the mean of the later half of the rounds" : "");
  }
  fmt::print(to, "{}: {} training rows, {} test rows, {} features{}; {} rounds, {} of them touch data\n",
             s.holdings.name, grouped(static_cast<long>(s.holdings.training_rows())),
             grouped(static_cast<long>(s.test_rows)), s.holdings.test.features,
             s.holdings.classes.empty() ? "" : fmt::format(", {} classes", s.holdings.classes.size()),
             s.plan.options.rounds, first.private_rounds.size());
  for (const auto& [what, text] : run::forecast_lines(s.plan)) fmt::print(to, "{:<11} {}\n", what, text);
  std::fflush(to);
}

std::string over(const std::vector<run::Result>& runs, const std::function<double(const run::Result&)>& of,
                 const std::function<std::string(double)>& text) {
  double sum = 0, low = of(runs[0]), high = low;
  for (const auto& r : runs) {
    sum += of(r);
    low = std::min(low, of(r));
    high = std::max(high, of(r));
  }
  const std::string mean = text(sum / static_cast<double>(runs.size()));
  return runs.size() == 1 ? mean : mean + " (" + text(low) + " to " + text(high) + ")";
}

void print_quality(const run::Summary& s) {
  const auto& runs = s.runs;
  const bool tested = s.simulation.test_rows > 0, classes = s.simulation.problems[0].loss.classifies();
  const auto error_text = [&](double e) { return std::isnan(e) ? "-" : classes ? percent(e) : fixed(e, 4); };
  std::vector<std::vector<std::string>> rows = {
      {"", runs.size() == 1 ? "this run" : fmt::format("mean of {} runs (range)", runs.size()), "not private, pooled"}};
  if (tested && classes) rows[0].emplace_back("larger class");
  if (tested)
    rows.push_back({classes ? "test error" : "test error (rms)",
                    over(
                        runs, [](const auto& r) { return *r.last().test_error; }, error_text),
                    error_text(s.simulation.test_error_nonprivate)});
  if (tested && classes) rows.back().push_back(error_text(s.simulation.test_error_guessing));
  rows.push_back({"training loss",
                  over(
                      runs, [](const auto& r) { return *r.last().train_loss; }, [](double x) { return fixed(x, 4); }),
                  std::isnan(s.simulation.train_loss_nonprivate) ? "-" : fixed(s.simulation.train_loss_nonprivate, 4)});
  rows.push_back({"disagreement",
                  over(
                      runs, [](const auto& r) { return r.last().disagreement; },
                      [](double x) { return fmt::format("{:.3g}", x); }),
                  "-"});
  fmt::print("\n{}\n{}", bold("Result"), table(rows));
}

bool ran_whole(const run::Summary& s) {
  return s.runs.back().outcome == run::Outcome::completed;
}

std::vector<std::vector<std::string>> loss_by_node(const run::Summary& s) {
  const run::Result& last = s.runs.back();
  const auto& plan = s.simulation.plan;
  const auto paper_text = [](const std::optional<double>& e) { return e ? printed_epsilon(*e) : "absent"; };
  std::vector<std::vector<std::string>> rows = {{"node", "records", "neighbours",
                                                 plan.verified_only() ? "ε verified" : "ε proved",
                                                 "ε against all others", "ε as printed"}};
  auto nodes = last.nodes;
  constexpr std::size_t most = 12;
  if (nodes.size() > most) {  // the nodes that lose most; the total is the first
    std::ranges::stable_sort(nodes, std::ranges::greater{}, &run::NodeSummary::epsilon);
    nodes.resize(most);
  }
  for (const auto& n : nodes)
    rows.push_back({std::to_string(n.node), grouped(static_cast<long>(n.records)), std::to_string(n.degree),
                    printed_epsilon(n.epsilon), printed_epsilon(n.epsilon_all_others), paper_text(n.epsilon_paper)});
  if (nodes.size() < last.nodes.size())
    rows.push_back({fmt::format("{} more, with less", last.nodes.size() - nodes.size()), "", "", "", "", ""});
  rows.push_back({"total", grouped(static_cast<long>(s.simulation.holdings.training_rows())), "",
                  printed_epsilon(last.epsilon), printed_epsilon(last.epsilon_all_others),
                  paper_text(ran_whole(s) ? plan.epsilon_paper() : std::nullopt)});
  if (!plan.sharing().on())
    for (auto& row : rows) row.erase(row.begin() + 4);  // the same as beside it
  if (std::ranges::none_of(nodes, [](const auto& n) { return n.epsilon_paper.has_value(); }))
    for (auto& row : rows) row.pop_back();  // absent everywhere: a line below the table says why
  return rows;
}

void print_loss(const run::Summary& s) {
  const auto& plan = s.simulation.plan;
  const bool whole = ran_whole(s);
  fmt::print(
      "\n{} ({}; the total is the largest node's; δ = {})\n{}",
      bold(s.simulation.not_private.empty() ? "Privacy loss"
                                            : "Privacy loss that secret noise and public preprocessing would have"),
      whole                     ? "whole run"
      : plan.nodes[0].delta > 0 ? "whole planned run"
                                : "up to the round where it ended",
      number(plan.nodes[0].delta), table(loss_by_node(s)));
  fmt::print("  {}: {}\n", plan.verified_only() ? "numerically verified, not proved" : "proved by",
             plan.nodes[0].theorem);
  if (!whole)
    fmt::print("  ε as printed is absent: the run ended early\n");
  else if (plan.epsilon_paper())
    fmt::print("  as printed: {}\n", plan.nodes[0].paper_equation);
  else if (!plan.nodes.front().sums)  // no paper prints one for sums
    fmt::print("  ε as printed is absent: {}\n", plan.epsilon_paper_absent());
  if (s.simulation.adjacency == record::Adjacency::as_dealt)
    fmt::print("  {}: {}\n", record::name_of(s.simulation.adjacency), record::meaning_of(s.simulation.adjacency));
}

void print_guarantee(const run::Summary& s) {
  const auto& runs = s.runs;
  const run::Result& last = runs.back();
  const auto& plan = s.simulation.plan;
  const privacy::Sharing& sharing = plan.sharing();
  fmt::print("\n  {} learns at most ε = {}, δ = {} about any one record{} ({}){}.\n",
             sharing.on() ? fmt::format("Whoever sees every message, with up to {} of the {} parties,",
                                        sharing.colluders, sharing.parties)
                          : "Whoever sees every message of this run",
             printed_epsilon(last.epsilon), number(plan.nodes[0].delta), sharing.on() ? " of another party" : "",
             record::name_of(s.simulation.adjacency), plan.verified_only() ? ", by a numerically verified bound" : "");
  if (sharing.on())
    fmt::print(
        "  If all other parties pool what they know: ε = {}. A person with rows at k parties: k times μ, not √k\n"
        "  (docs/privacy-shared-noise.md).\n",
        printed_epsilon(last.epsilon_all_others));
  if (const std::string rows = run::not_covered(s.simulation); !rows.empty()) fmt::print("  Not covered: {}.\n", rows);
  if (last.epsilon_all_others > 10)
    fmt::print(
        "  The odds of any statement about a record may change by a factor e^{:.0f}: no meaningful protection.\n",
        last.epsilon);
  if (runs.size() > 1)
    fmt::print("  ε and δ are per run: whoever sees all {} runs learns up to {} times as much.\n", runs.size(),
               runs.size());
}

void print_end(const run::Summary& s) {
  const run::Result& last = s.runs.back();
  if (!ran_whole(s))
    fmt::print("\n  {} after round {}{}\n", alarm(run::name_of(last.outcome)), last.last().round,
               last.outcome == run::Outcome::diverged ? ": a released coordinate reached the public bound; raise "
                                                        "--damping or --penalty, or lower the noise; there is no model"
               : last.outcome == run::Outcome::interrupted && last.record == s.record  // not one of --repeat
                   ? ": the same command with --resume true --out " + s.record + " goes on; nothing is charged twice"
                   : "");
  fmt::print("\nRecord: {} (private: a simulation measures on everyone's rows)\n", s.record);
  if (last.outcome != run::Outcome::diverged) fmt::print("Model:  {}/model.json\n", last.record);
}

void print_result(const run::Summary& s) {
  const auto& not_private = s.simulation.not_private;
  print_quality(s);
  if (!not_private.empty()) fmt::print("\n  {}\n", alarm("NOT PRIVATE: " + join(not_private, "; ")));
  if (s.simulation.plan.noisy()) print_loss(s);
  if (not_private.empty()) print_guarantee(s);
  print_end(s);
}

int exit_code(const run::Summary& summary) {
  switch (summary.runs.back().outcome) {
    case run::Outcome::completed:
      return 0;
    case run::Outcome::interrupted:
      return exit_interrupted;
    default:
      return exit_unusable;
  }
}

LiveView::Shown shown_of(const run::Simulation& s, const run::TrainOptions& o) {
  return {.rounds = s.plan.options.rounds,
          .repeats = o.engine.repeat,
          .budget = s.plan.noisy() ? std::optional(s.plan.epsilon()) : std::nullopt,
          .mark = std::string(s.adjacency == record::Adjacency::as_dealt ? ", " + record::name_of(s.adjacency) : "") +
                  (s.not_private.empty() ? "" : ", NOT PRIVATE")};
}

int run_train(const Arguments& arguments) {
  run::TrainOptions options;
  set_from(arguments, run::option_rows(options));
  const bool json = arguments.has("json");
  // SIGUSR1: what mpirun passes on without killing
  std::optional<LiveView> live;
  LoadView loading(arguments.has("quiet"));
  const run::Hooks hooks{.on_start =
                             [&](const run::Simulation& s) {
                               if (!arguments.has("quiet")) print_start(s, options, json);
                               for (const auto& warning : s.plan.warnings) fmt::print(stderr, "warning: {}\n", warning);
                               live.emplace(arguments.has("quiet"), shown_of(s, options));
                             },
                         .on_round = [&](int repeat, const run::RoundMetrics& m) { live->show(repeat, m); },
                         .stop = &stop_on({SIGINT, SIGTERM, SIGUSR1}),
                         .watch = loading.watch()};
  const auto ranks = network::make_ranks(options.engine.engine);
  std::optional<run::Summary> trained;
  try {
    trained = run::train(options, hooks, *ranks);
  } catch (const network::Agreed&) {  // on every rank
    if (ranks->rank() > 0) return exit_mistake;
    throw;
  } catch (const std::exception& e) {  // the others wait for this rank
    if (ranks->count() == 1) throw;
    const bool mistake =
        dynamic_cast<const Error*>(&e) != nullptr || dynamic_cast<const std::system_error*>(&e) != nullptr;
    fmt::print(stderr, "parley: rank {}: {}\n{}", ranks->rank(), e.what(),
               mistake ? "" : "Nothing further was sent. Please report this with the command you ran.\n");
    std::fflush(stderr);
    const int code = mistake ? exit_mistake : exit_bug;
    ranks->abandon(code);
    return code;
  }
  const run::Summary& summary = *trained;
  if (ranks->rank() > 0) return exit_code(summary);
  live->finish();
  if (json)
    fmt::print("{}\n", run::to_json(summary, options).dump());
  else
    print_result(summary);
  return exit_code(summary);
}

}  // namespace

Command train_command() {
  static run::TrainOptions defaults;
  static std::string config;
  return {.name = "train",
          .summary = "train between simulated nodes and account for it",
          .rows = run::option_rows(defaults),
          .own = {{"config", "", "TOML file with any of the options below; the command line wins", any_text("a file"),
                   &config, "Options"}},
          .flags = {"json", "quiet"},
          .examples =
              "  parley train\n"
              "  parley train --algorithm mr-admm --penalty-growth 1.04 --noise-rate 0.5 --repeat 10\n"
              "  parley train --data adult --preprocessing compact --nodes 20 --graph random --epsilon 1 --json\n"
              "  parley train --data a.csv,b.csv,c.csv --schema schema.toml --epsilon 1 --out runs/ours\n"
              "  parley train --algorithm dp-admm --loss hinge --epsilon 1 --delta 1e-5\n"
              "  mpirun -n 4 parley train --engine mpi --nodes 100 --epsilon 1 --delta 1e-5 --out runs/cluster\n"
              "  parley train --algorithm r-admm --noise none --rounds 400 --seed 7\n",
          .run = run_train};
}

}  // namespace parley::cli
