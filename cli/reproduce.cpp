#include "parley/experiment/reproduce.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "cli/commands.h"
#include "cli/stop.h"
#include "cli/terminal.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/data/named/adult.h"
#include "parley/experiment/cell.h"
#include "parley/experiment/outcome.h"
#include "parley/experiment/run_cell.h"

namespace parley::cli {
namespace {

using experiment::Experiment;
using nlohmann::json;

struct ReproduceOptions {
  std::string out = "runs/reproduce", data_dir;
  long threads = 0;
};

std::vector<Option> rows(ReproduceOptions& o) {
  return {{"out", "", "folder of the results: NAME.csv, NAME.svg, NAME.json and index.md", any_text("a folder"), &o.out,
           "Options"},
          {"data-dir", "", "folder with the Adult files; else $PARLEY_DATA, the cache, ../shared/data",
           any_text("a folder"), &o.data_dir, "Options"},
          {"threads", "", "runs at the same time; 0: one per core. No result but the times depends on it",
           between(0, 4096), &o.threads, "Options"}};
}

std::vector<Experiment> all_embedded(bool quick) {
  std::vector<Experiment> all;
  for (const auto& [name, text] : experiment::embedded())
    all.push_back(experiment::parse(text, name, "experiments/" + name + ".toml", quick));
  return all;
}

Experiment one(const std::string& word, bool quick) {
  std::vector<std::string> names;
  for (const auto& [name, text] : experiment::embedded()) {
    if (name == word) return experiment::parse(text, name, "experiments/" + name + ".toml", quick);
    names.push_back(name);
  }
  const std::filesystem::path path = word;
  if (path.extension() == ".toml")
    return experiment::parse(read_file(path, "the experiment", mebibyte), path.stem().string(), word, quick);
  const std::string near = nearest(word, names);
  throw Error({.what = "there is no experiment '" + word + "'",
               .allowed = "list, all, a name from 'parley reproduce list', or a .toml file",
               .where = "parley reproduce",
               .fix = near.empty() ? "see 'parley reproduce list'" : "did you mean '" + near + "'?"});
}

long runs_of(const Experiment& e) {
  long runs = 0;
  for (const auto& job : experiment::jobs(e, experiment::cells(e, ""))) runs += job.count;
  return runs;
}

int list(bool as_json, bool quick) {
  const auto all = all_embedded(quick);
  if (as_json) {
    json out = json::array();
    for (const Experiment& e : all)
      out.push_back({{"name", e.name},
                     {"paper", e.paper},
                     {"figure", e.figure},
                     {"title", e.title},
                     {"claim", e.claim},
                     {"runs", runs_of(e)},
                     {"charts", experiment::chart_files(e)},
                     {"fingerprint", experiment::fingerprint(e)}});
    fmt::print("{}\n", json{{"experiments", out}}.dump(1));
    return 0;
  }
  std::string paper;
  for (const Experiment& e : all) {
    if (e.paper != paper) fmt::print("{}{}\n", paper.empty() ? "" : "\n", bold(paper = e.paper));
    fmt::print("  {:<21} {:<23} {:>3} runs  {}\n", e.name, e.figure, runs_of(e), e.title);
  }
  fmt::print("\n'parley reproduce NAME' runs one, 'parley reproduce all' all of them (--quick: in minutes).\n");
  return 0;
}

// Says early, and once, what is missing.
void check_data(const std::vector<Experiment>& experiments, const std::string& data_dir) {
  for (const Experiment& e : experiments)
    for (const auto& cell : experiment::cells(e, data_dir))
      if (std::ranges::find(cell.options.data.data, "adult") != cell.options.data.data.end()) {
        data::find_adult(data_dir);
        return;
      }
}

void print_result(const json& r) {
  fmt::print("\n{}  {} {}: {}\n", bold(r.at("name").get<std::string>()), r.at("paper").get<std::string>(),
             r.at("figure").get<std::string>(), r.at("title").get<std::string>());
  fmt::print("  claim    {}\n  verdict  {}{}\n", r.at("claim").get<std::string>(),
             bold(r.at("verdict").get<std::string>()),
             r.at("quick").get<bool>() ? " (--quick: too short to judge the paper by)" : "");
  for (const json& j : r.at("judgements"))
    fmt::print("    {} {}{}\n      {}\n",
               j.at("finding") == "holds"           ? "✓"
               : j.at("finding") == "does not hold" ? "✗"
                                                    : "?",
               j.at("counts_for") == "claim" ? "" : "(beside the claim) ", j.at("says").get<std::string>(),
               j.at("measured").get<std::string>());
}

void print_table(const std::vector<json>& results, const std::string& out) {
  std::vector<std::vector<std::string>> table_rows = {{"experiment", "figure", "verdict", "parts that hold"}};
  for (const json& r : results) {
    long hold = 0, all = 0;
    for (const json& j : r.at("judgements")) {
      if (j.at("counts_for") != "claim") continue;
      ++all;
      hold += j.at("finding") == "holds" ? 1 : 0;
    }
    table_rows.push_back({r.at("name").get<std::string>(),
                          r.at("paper").get<std::string>() + " " + r.at("figure").get<std::string>(),
                          r.at("verdict").get<std::string>(), fmt::format("{} of {}", hold, all)});
  }
  std::set<std::string> reasons;
  for (const json& r : results)
    for (const json& reason : r.at("not_private")) reasons.insert(reason.get<std::string>());
  fmt::print("\n{}\n", table(table_rows));
  if (!reasons.empty()) fmt::print("  {}\n", alarm("NOT PRIVATE: " + join({reasons.begin(), reasons.end()}, "; ")));
  fmt::print("  Charts, tables and reasons: {}/index.md\n", out);
}

int run_reproduce(const Arguments& arguments) {
  ReproduceOptions o;
  set_from(arguments, rows(o));
  validate_options(rows(o));
  const bool quick = arguments.has("quick"), as_json = arguments.has("json");
  if (arguments.words.empty())
    throw Error({.what = "reproduce what?",
                 .allowed = "list, all, a name from 'parley reproduce list', or a .toml file",
                 .where = "parley reproduce",
                 .fix = "try 'parley reproduce list'"});
  if (arguments.words.size() == 1 && arguments.words[0] == "list") return list(as_json, quick);
  std::vector<Experiment> chosen;
  for (const std::string& word : arguments.words) {
    if (word == "all")
      for (Experiment& e : all_embedded(quick)) chosen.push_back(std::move(e));
    else
      chosen.push_back(one(word, quick));
  }
  check_data(chosen, o.data_dir);
  Progress progress(arguments.has("quiet"), 1000);
  const auto say = [&](const experiment::Advance& a) {
    progress.show(
        std::lround(1000 * a.share),
        fmt::format("{} of {} done  {} {:>3.0f} %  {}{}", a.finished, a.count, bar(a.share, 20), 100 * a.share, a.name,
                    a.seconds_left < 0 ? "" : "  about " + duration(a.seconds_left) + " left"));
  };
  const auto tell = [&](const json& result, bool was_stored) {
    if (as_json) return;
    progress.clear();
    if (was_stored)
      fmt::print("{} is finished already: {} (--fresh runs it again)\n", result.at("name").get<std::string>(),
                 result.at("verdict").get<std::string>());
    else
      print_result(result);
    std::fflush(stdout);
  };
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const auto results =
      experiment::reproduce(chosen,
                            {.out = o.out,
                             .data_dir = o.data_dir,
                             .threads = o.threads > 0 ? static_cast<int>(o.threads) : cores,
                             .fresh = arguments.has("fresh")},
                            {.on_advance = say, .on_result = tell, .stop = &stop_on({SIGINT, SIGTERM})});
  progress.finish();
  if (!results.empty())
    write_file(std::filesystem::path(o.out) / "index.md", "# Reproduced\n\n" + experiment::index(results));
  if (as_json)
    fmt::print("{}\n",
               json{{"results", results}, {"out", o.out}, {"complete", results.size() == chosen.size()}}.dump());
  else if (!results.empty())
    print_table(results, o.out);
  if (results.size() == chosen.size()) return 0;
  fmt::print(stderr, "interrupted: {} of {} experiments are finished and kept in {}; the same command goes on\n",
             results.size(), chosen.size(), o.out);
  return exit_interrupted;
}

}  // namespace

Command reproduce_command() {
  static ReproduceOptions defaults;
  return {.name = "reproduce",
          .summary = "run the papers' figures again, and judge their claims",
          .words = "NAME…",
          .rows = rows(defaults),
          .flags = {"quick", "fresh", "json", "quiet"},
          .examples =
              "  parley reproduce list\n"
              "  parley reproduce zkl20-fig5\n"
              "  parley reproduce all --quick --out runs/quick\n"
              "  parley reproduce mine.toml           # the format: docs/results/reproduce.md\n",
          .run = run_reproduce};
}

}  // namespace parley::cli
