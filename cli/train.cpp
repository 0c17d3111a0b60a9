#include <fmt/core.h>

#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <system_error>

#include "cli/commands.h"
#include "cli/live_view.h"
#include "cli/load_view.h"
#include "cli/stop.h"
#include "cli/terminal.h"
#include "cli/train_result.h"
#include "parley/algorithm/newton/newton_plan.h"
#include "parley/base/error.h"
#include "parley/base/printed.h"
#include "parley/base/text.h"
#include "parley/network/ranks.h"
#include "parley/network/together.h"
#include "parley/run/claim.h"
#include "parley/run/open_run.h"
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
  // Of sums one more is the model. Around a trainer a round is two of messages.
  return {.rounds = s.plan.star() ? s.plan.options.rounds : s.plan.nodes.front().rounds,
          .repeats = o.engine.repeat,
          .budget = s.plan.noisy() ? std::optional(s.plan.epsilon()) : std::nullopt,
          .mark = std::string(s.adjacency == record::Adjacency::as_dealt ? ", " + record::name_of(s.adjacency) : "") +
                  (s.not_private.empty() ? "" : ", NOT PRIVATE")};
}

int run_train(const Arguments& arguments) {
  run::TrainOptions options;
  set_from(arguments, run::option_rows(options));
  run::check_budget(options);
  const bool json = arguments.has("json");
  // SIGUSR1: what mpirun passes on without killing
  std::optional<LiveView> live;
  LoadView loading(arguments.has("quiet"));
  const run::Hooks hooks{.on_start =
                             [&](const run::Simulation& s) {
                               say_first(run::too_large_epsilon(s.plan));
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
          .basic = {"config", "data", "schema", "test-data", "epsilon", "delta", "algorithm", "loss", "nodes", "graph",
                    "noise", "out", "resume", "repeat", "seed", "ledger", "dataset"},
          .examples =
              "  parley train --epsilon 1\n"
              "  parley train --algorithm mr-admm --penalty-growth 1.04 --noise-rate 0.5 --repeat 10\n"
              "  parley train --data adult --preprocessing compact --nodes 20 --graph random --epsilon 1 --json\n"
              "  parley train --data a.csv,b.csv,c.csv --schema schema.toml --epsilon 1 --out runs/ours\n"
              "  parley train --algorithm dp-admm --loss hinge --epsilon 1 --delta 1e-5\n"
              "  mpirun -n 4 parley train --engine mpi --nodes 100 --epsilon 1 --delta 1e-5 --out runs/cluster\n"
              "  parley train --algorithm r-admm --noise none --rounds 400 --seed 7\n",
          .run = run_train};
}

}  // namespace parley::cli
