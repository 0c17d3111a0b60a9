#include "parley/run/compare.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "cli/commands.h"
#include "cli/exports/outside_table.h"
#include "cli/stop.h"
#include "cli/terminal.h"
#include "parley/algorithm/catalog.h"
#include "parley/algorithm/planner.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/report/report.h"
#include "parley/run/claim.h"
#include "parley/run/export/outside_results.h"
#include "parley/run/open_run.h"
#include "parley/run/setting.h"

namespace parley::cli {
namespace {

struct CompareOptions {
  run::TrainOptions train;
  std::vector<std::string> algorithms{"mr-admm", "dp-gd", algorithm::auto_algorithm};
  std::vector<double> budgets{0.25, 1, 4};
  std::string with;
};

// What every cell has in common. Left out: what the cells set themselves, and ledgers (a comparison is a simulation).
std::vector<Option> rows(CompareOptions& o) {
  static const std::vector<std::string> left_out = {
      "algorithm",         "epsilon",         "ledger",     "dataset",     "resume",   "engine",
      "iteration-epsilon", "iteration-delta", "noise-rate", "noise-scale", "colluders"};
  o.train.engine.repeat = 5;
  std::vector<Option> list = {
      {"algorithms", "", "which algorithms, e.g. mr-admm,auto (auto: what the planner chooses); all: every one",
       any_text("names, or all"), &o.algorithms, "Options"},
      {"epsilon", "ε", "budgets of the whole run; every algorithm is planned for each", above(0), &o.budgets,
       "Options"},
      {"with", "", "a CSV file with results of other programs on the same rows; parley does not check them",
       any_text("a file"), &o.with, "Options"}};
  for (const Option& row : run::option_rows(o.train))
    if (std::ranges::find(left_out, row.name) == left_out.end()) list.push_back(row);
  return list;
}

// Known, and each algorithm and budget once: a cell has one folder.
void check_cells(CompareOptions& o) {
  if (o.algorithms == std::vector<std::string>{"all"}) o.algorithms = algorithm::algorithm_names();
  for (const std::string& name : o.algorithms)
    if (name != algorithm::auto_algorithm) algorithm::algorithm_named(name);
  const auto twice = [](auto list) {
    std::ranges::sort(list);
    return std::ranges::adjacent_find(list) != list.end();
  };
  if (twice(o.algorithms) || twice(o.budgets))
    throw Error({.what = "an algorithm or a budget is given twice",
                 .where = "options --algorithms and --epsilon",
                 .fix = "name each once; --repeat runs each several times"});
}

// Seconds that the comparison takes, roughly: what a plan's rounds cost per stored number of the rows, as measured with
// bench_run, on as many cores as there are nodes to fill them.
double expected_seconds(const CompareOptions& o, const run::Simulation& s) {
  double numbers = 0, seconds = 0;
  for (const auto& rows : s.holdings.nodes) numbers += static_cast<double>(rows.value.size());
  const double threads = static_cast<double>(
      o.train.engine.threads > 0 ? o.train.engine.threads : std::max(1U, std::thread::hardware_concurrency()));
  const double cores = std::min(threads, static_cast<double>(s.parties()));
  for (const std::string& name : o.algorithms)
    for (const double budget : o.budgets) try {
        algorithm::Options cell = o.train.algorithm;
        cell.algorithm = name;
        cell.epsilon = {budget};
        cell.algorithm =
            algorithm::select_algorithm(
                cell, false, {.features = static_cast<long>(s.holdings.test.features), .parties = s.parties()})
                .algorithm;
        const auto graph = run::graph_for(o.train.graph, cell.algorithm, s.parties());
        algorithm::Setting setting = run::setting_on(graph, s.holdings.records, s.parties());
        setting.features = s.holdings.test.features;
        setting.rows_per_person = s.unit.rows_per_person;
        const algorithm::Algorithm& a = algorithm::algorithm_named(cell.algorithm);
        const double nanoseconds = a.linear ? 2.5 : a.sums ? 3 : 7;
        const double rounds = static_cast<double>(algorithm::fill_in(cell, setting).rounds);
        seconds += 0.3 + 1e-9 * nanoseconds * numbers * rounds * static_cast<double>(o.train.engine.repeat) / cores;
      } catch (const Error&) {  // this cell will be refused, and says why
      }
  return seconds;
}

std::vector<std::vector<std::string>> matrix(const run::Comparison& c, const std::vector<double>& budgets) {
  const run::Judged judged = run::judged(c);
  const bool losses = judged.by == run::Judged::By::train_loss;
  const auto text = [&](double v) {
    return std::isnan(v)  ? "-"
           : losses       ? fixed(v, 4)
           : c.classifies ? fmt::format("{:.1f}", 100 * v)
                          : fmt::format("{:.4g}", v);  // in the column's own unit
  };
  const auto spread_text = [&](const run::Spread& m, std::size_t runs) {
    return text(m.mean) + (runs > 1 ? fmt::format(" ({} to {})", text(m.low), text(m.high)) : "");
  };
  std::vector<std::vector<std::string>> rows = {{""}};
  for (const double b : budgets) rows[0].push_back("ε = " + number(b));
  for (std::size_t i = 0; i < c.cells.size(); i += budgets.size()) {
    const run::Cell& one = c.cells[i];
    std::vector<std::string> row = {one.selected.by_planner() ? one.selected.algorithm + ", chosen" : one.algorithm};
    for (std::size_t k = i; k < i + budgets.size(); ++k) {
      const run::Cell& cell = c.cells[k];
      if (cell.runs == 0) {
        row.emplace_back(cell.refused.empty() ? "not run" : "-");
        continue;
      }
      const auto same = [&](const run::Cell& other) { return other.budget == cell.budget && other.runs > 0; };
      const bool best = std::ranges::none_of(
          c.cells, [&](const run::Cell& o) { return same(o) && run::judged(c, o).mean < run::judged(c, cell).mean; });
      const run::Spread& m = run::judged(c, cell);
      row.push_back((best ? "*" : "") + spread_text(m, cell.runs));
    }
    rows.push_back(row);
  }
  for (const std::string& name : run::outside_names(c.outside)) {
    std::vector<std::string> row = {name + ", outside"};
    for (const double b : budgets) {
      const auto one = std::ranges::find_if(
          c.outside, [&](const run::OutsideResult& r) { return r.algorithm == name && r.epsilon == b; });
      const bool told =
          one != c.outside.end() && judged.by != run::Judged::By::balanced_error;  // they have the test error alone
      row.push_back(told ? spread_text(one->test_error, one->runs) : "-");
    }
    rows.push_back(row);
  }
  std::vector<std::string> last = {"not private"};
  last.resize(budgets.size() + 1, text(judged.nonprivate));
  rows.push_back(last);
  if (judged.guessing) {
    last.assign(budgets.size() + 1, text(*judged.guessing));
    last[0] = judged.by == run::Judged::By::balanced_error ? "always one class"
              : c.classifies                               ? "larger class"
                                                           : "always the mean";
    rows.push_back(last);
  }
  return rows;
}

std::string joined(const std::vector<double>& budgets) {
  std::vector<std::string> parts;
  for (const double b : budgets) parts.push_back(number(b));
  return join(parts, ", ");
}

// "The planner chose newton: …", and what it said before any record was read.
void print_chosen(const run::Comparison& c) {
  std::string said, expected;
  for (const run::Cell& cell : c.cells) {
    if (!cell.selected.by_planner()) continue;
    said = "The planner chose " + cell.selected.algorithm + ": " + cell.selected.because + ".";
    if (const auto& f = cell.expected)
      expected += (expected.empty() ? "" : ", ") +
                  (f->guessing  ? "no better than guessing"
                   : !f->ranged ? fmt::format("{:.1f}", f->points)
                                : fmt::format("{:.1f} ({:.1f} to {:.1f})", f->points, f->low, f->high)) +
                  " at ε = " + number(cell.budget);
  }
  if (!said.empty()) fmt::print("  {}\n", said);
  if (!expected.empty())
    fmt::print(
        "  Its forecast before any record was read, in points above 'not private': {} (docs/check/frontier.md).\n",
        expected);
}

std::string title_of(const run::Comparison& c) {
  const std::string weights = c.class_weight.empty() ? "" : ", class weights " + c.class_weight;
  switch (run::judged(c).by) {
    case run::Judged::By::balanced_error:
      return "Balanced error in % at equal privacy loss" + weights;
    case run::Judged::By::test_error:
      return c.classifies ? "Test error in % at equal privacy loss" + weights
                          : "Root mean square error at equal privacy loss, in the column's own unit";
    case run::Judged::By::train_loss:
      break;
  }
  return "Training loss at equal privacy loss" + weights;
}

void print_comparison(const run::Comparison& c, const CompareOptions& o, const std::string& out,
                      const std::vector<std::string>& choices) {
  const auto ran = std::ranges::find_if(c.cells, [](const run::Cell& cell) { return cell.runs > 0; });
  if (ran == c.cells.end()) {
    fmt::print("\nInterrupted before anything was finished.\n");
    return;
  }
  fmt::print("\n{} (total over the whole run, δ = {}; {} nodes; {}; * lowest)\n{}", bold(title_of(c)),
             number(ran->delta), c.nodes,
             ran->runs == 1 ? "one run each" : fmt::format("mean and range of {} runs", ran->runs),
             table(matrix(c, o.budgets)));
  for (const std::string& line : choices) fmt::print("  {}\n", line);
  print_chosen(c);
  if (!c.outside.empty())
    fmt::print("  {} from {}: {}.\n", join(run::outside_names(c.outside), ", "), o.with, run::not_checked);
  std::string said;
  for (const run::Cell& cell : c.cells) {
    if (!cell.refused.empty() && said != cell.algorithm)
      fmt::print("  - {} at ε = {}: {}\n", said = cell.algorithm, number(cell.budget), cell.refused);
    if (cell.diverged > 0)
      fmt::print("  {} at ε = {}: {} of {} runs diverged\n", cell.algorithm, number(cell.budget), cell.diverged,
                 cell.runs);
  }
  if (!c.not_private.empty()) fmt::print("\n  {}\n", alarm("NOT PRIVATE: " + join(c.not_private, "; ")));
  if (c.rows_per_person > 0) fmt::print("\n  ε is for one {}.\n", record::unit_in_words(c.rows_per_person));
  if (c.adjacency == record::Adjacency::as_dealt)
    fmt::print("\n  ε {}: {}.\n", record::name_of(c.adjacency), record::meaning_of(c.adjacency, c.rows_per_person));
  fmt::print(
      "\n  ε and δ are those of one run. Whoever sees several learns more, and to choose an algorithm by errors that\n"
      "  were measured on private rows is covered by none of them: choose on public rows, or before.\n");
  if (c.interrupted) fmt::print("\n  {}: what was finished is here\n", alarm("interrupted"));
  fmt::print(
      "\nTable:  {0}/compare.csv\nReport: {0}/report.html\nRuns:   {0} (all of it private: a simulation measures on "
      "everyone's rows)\n",
      out);
}

int run_compare(const Arguments& arguments) {
  ::umask(077);  // losses and errors on private rows
  CompareOptions o;
  const auto all = rows(o);
  set_from(arguments, all);
  validate_options(all);
  check_cells(o);
  const std::vector<run::OutsideResult> outside = outside_of(o.with, o.train, o.budgets);
  say_first(run::too_large_epsilon(*std::ranges::max_element(o.budgets)));
  const bool json = arguments.has("json"), quiet = arguments.has("quiet");
  const std::string out = o.train.engine.out.empty() ? run::default_folder("compare") : o.train.engine.out;
  const std::size_t cells = o.algorithms.size() * o.budgets.size();
  constexpr long ticks = 1000;
  Progress progress(quiet, ticks * static_cast<long>(cells));
  const auto begin = std::chrono::steady_clock::now();
  long rounds = 1;
  std::set<std::string> warnings;  // of all cells, each once
  const run::ContestHooks hooks{
      .on_cell =
          [&](std::size_t cell, const run::Simulation& s) {
            if (cell == 0 && !quiet)
              fmt::print(json ? stderr : stdout, "{} settings ({} at ε = {}), {} runs each: about {}\n", cells,
                         join(o.algorithms, ", "), joined(o.budgets), o.train.engine.repeat,
                         duration(std::max(1.0, expected_seconds(o, s)))),
                  std::fflush(stdout);
            rounds = s.plan.options.rounds;
            warnings.insert(s.plan.warnings.begin(), s.plan.warnings.end());
          },
      .on_round =
          [&](std::size_t cell, int repeat, const run::RoundMetrics& m) {
            const double share = (repeat + static_cast<double>(m.round + 1) / static_cast<double>(rounds + 1)) /
                                 static_cast<double>(o.train.engine.repeat);
            const double done = (static_cast<double>(cell) + share) / static_cast<double>(cells);
            const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
            const std::string what =
                fmt::format("{}/{}  {} at ε = {}, run {} of {}", cell + 1, cells, o.algorithms[cell / o.budgets.size()],
                            number(o.budgets[cell % o.budgets.size()]), repeat + 1, o.train.engine.repeat);
            progress.show(std::lround(done * ticks * static_cast<double>(cells)),
                          {fmt::format("{}  {}  {}", bar(done, 24), what, time_left(seconds, done))}, what);
          },
      .stop = &stop_on({SIGINT, SIGTERM})};
  run::Comparison comparison =
      run::compare({.common = o.train, .algorithms = o.algorithms, .budgets = o.budgets, .out = out}, hooks);
  progress.finish();
  if (comparison.test_error_nonprivate) comparison.outside = outside;
  for (const auto& warning : warnings) fmt::print(stderr, "warning: {}\n", warning);
  write_file(out + "/compare.csv", run::to_csv(comparison));
  write_file(out + "/compare.json", run::to_json(comparison).dump(1) + "\n");
  std::vector<std::string> choices;
  if (std::ranges::any_of(comparison.cells, [](const run::Cell& c) { return c.runs > 0; })) {
    const report::Report made = report::make_report({out}, {.audience = report::Audience::owner,
                                                            .title = "",
                                                            .version = PARLEY_VERSION,
                                                            .outside = outside_table(comparison),
                                                            .shareable_option = {}});
    write_file(out + "/report.html", made.page);
    choices = made.choices;
  }
  if (json)
    fmt::print("{}\n", run::to_json(comparison).dump());
  else
    print_comparison(comparison, o, out, choices);
  return comparison.interrupted ? exit_interrupted : 0;
}

}  // namespace

Command compare_command() {
  static CompareOptions defaults;
  static std::string config;
  return {.name = "compare",
          .summary = "several algorithms at the same privacy budgets, side by side",
          .rows = rows(defaults),
          .own = {{"config", "", "TOML file with any of the options below; the command line wins", any_text("a file"),
                   &config, "Options"}},
          .flags = {"json", "quiet"},
          .basic = {"config", "algorithms", "epsilon", "delta", "data", "schema", "test-data", "loss", "nodes", "graph",
                    "repeat", "with", "out", "seed"},
          .examples =
              "  parley compare\n"
              "  parley compare --algorithms mr-admm,auto --epsilon 0.25,1\n"
              "  parley compare --algorithms mr-admm,m-admm,dp-admm --epsilon 0.1,0.25,0.5,1,2 --delta 1e-5\n"
              "  parley compare --data adult --preprocessing compact --repeat 20 --out runs/adult\n"
              "  parley compare --epsilon 1 --with results.csv            # beside an algorithm of your own\n"
              "  parley compare --data a.csv,b.csv,c.csv --schema schema.toml --epsilon 1 --seed 7\n",
          .run = run_compare};
}

}  // namespace parley::cli
