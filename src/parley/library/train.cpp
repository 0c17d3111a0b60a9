#include <cstdlib>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/library/inside.h"
#include "parley/run/claim.h"
#include "parley/run/open_run.h"
#include "parley/run/simulate.h"

namespace parley {
namespace library {

void set_options(const std::vector<Option>& rows, const Settings& settings) {
  for (const auto& [name, value] : settings) {
    const Option& row = find_option(rows, name, "setting '" + name + "'");
    set_option(row, value, "setting '" + name + "'");
  }
}

namespace {

namespace fs = std::filesystem;

// A record that nobody asked for lies in a folder of this process's owner alone, and goes with the call.
class Unkept {
 public:
  Unkept() {
    std::string name = (fs::temp_directory_path() / "parley-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw std::system_error(errno, std::generic_category(), "cannot make a folder in " + name);
    folder_ = name;
  }
  ~Unkept() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  Unkept(const Unkept&) = delete;
  Unkept& operator=(const Unkept&) = delete;
  std::string record() const { return (folder_ / "record").string(); }

 private:
  fs::path folder_;
};

void refuse_settings(const Settings& settings, const std::vector<std::string>& names, const std::string& why,
                     const std::string& fix) {
  for (const std::string& name : names)
    if (settings.contains(name)) throw Error({.what = why, .where = "setting '" + name + "'", .fix = fix});
}

// Where the rows come from is an argument, not a setting.
void check_no_source(const Settings& settings) {
  refuse_settings(settings,
                  {"data", "data-dir", "schema", "format", "header", "delimiter", "query", "features", "preprocessing",
                   "rows", "test-data", "test-share", "public-data", "public-rows", "engine"},
                  "this setting says where rows come from, and the rows are given",
                  "leave it out, or train by names of files alone");
  refuse_settings(settings, {"resume"}, "a run of rows in memory cannot be resumed",
                  "train again, or train by names of files alone");
}

// One call is one run, and its guarantee is that of the whole call.
void check_one_run(const run::TrainOptions& options) {
  if (options.engine.repeat > 1)
    throw Error({.what = "a call trains once",
                 .value = std::to_string(options.engine.repeat),
                 .allowed = "1",
                 .where = "setting 'repeat'",
                 .fix = "call it again: every run costs its budget"});
}

constexpr double unlimited = std::numeric_limits<double>::infinity();

// Privacy: what claims nothing is never beside a number that looks like a claim.
Progress progress_of(const run::RoundMetrics& m, const run::Simulation& s) {
  const bool claims = s.not_private.empty();
  return {.round = m.round,
          .rounds = static_cast<int>(s.plan.options.rounds),
          .epsilon = claims ? m.epsilon : unlimited,
          .epsilon_all_others = claims ? m.epsilon_all_others : unlimited,
          .disagreement = m.disagreement,
          .train_loss = m.train_loss,
          .test_error = m.test_error};
}

Guarantee guarantee_of(const nlohmann::json& j, const std::vector<std::string>& not_private) {
  const bool claims = not_private.empty();
  const auto amount = [&](const nlohmann::json& value) {
    return claims && value.is_number() ? value.get<double>() : unlimited;
  };
  Guarantee g{.epsilon = amount(j.at("epsilon")),
              .epsilon_all_others = amount(j.at("epsilon_all_others")),
              .delta = j.at("delta").is_number() ? j.at("delta").get<double>() : 0,
              .against = j.at("against").get<std::string>(),
              .theorem = j.at("theorem").get<std::string>(),
              .bound = j.at("bound").get<std::string>(),
              .protects = j.at("adjacency_means").get<std::string>(),
              .not_private = not_private,
              .parties = {}};
  for (const nlohmann::json& node : j.at("node_results"))
    g.parties.push_back({.records = node.at("records").get<std::size_t>(),
                         .epsilon = amount(node.at("epsilon")),
                         .epsilon_all_others = amount(node.at("epsilon_all_others"))});
  return g;
}

Trained trained_of(const run::Summary& summary, const run::TrainOptions& options, bool kept) {
  const run::Result& last = summary.runs.back();
  nlohmann::json j = run::to_json(summary, options);
  if (!kept) j["record"] = nullptr;
  Trained t{.outcome = run::name_of(last.outcome),
            .model = std::nullopt,
            .guarantee = guarantee_of(j, summary.simulation.not_private),
            .history = {},
            .coefficients = {},
            .warnings = summary.simulation.plan.warnings,
            .record = kept ? summary.record : "",
            .json = j.dump()};
  for (const run::RoundMetrics& m : last.history) t.history.push_back(progress_of(m, summary.simulation));
  for (const run::Coefficient& c : last.coefficients)
    t.coefficients.push_back({.name = c.name,
                              .estimate = c.estimate,
                              .standard_error = c.standard_error,
                              .low = c.low,
                              .high = c.high,
                              .p_value = c.p_value,
                              .identified = c.identified});
  if (last.outcome != run::Outcome::diverged) t.model = Model::read(fs::path(last.record) / "model.json");
  return t;
}

run::Hooks hooks_of(const Hooks& hooks, const run::Simulation*& planned) {
  return {.on_start = [&](const run::Simulation& s) { planned = &s; },
          .on_round =
              [&](int, const run::RoundMetrics& m) {
                if (hooks.on_round) hooks.on_round(progress_of(m, *planned));
              },
          .stop = hooks.stop,
          .watch = {}};
}

// `how`: trains with these options.
template <class How>
Trained run_with(const Settings& settings, const Hooks& hooks, const How& how) {
  run::TrainOptions options;
  options.engine.metrics = "last";
  set_options(run::option_rows(options), settings);
  check_one_run(options);
  run::check_budget(options);
  std::optional<Unkept> unkept;
  if (options.engine.out.empty() && options.engine.ledger.empty()) options.engine.out = unkept.emplace().record();
  const run::Simulation* planned = nullptr;
  return trained_of(how(options, hooks_of(hooks, planned)), options, !unkept);
}

std::vector<data::Dataset> datasets(const std::vector<Rows>& all) {
  std::vector<data::Dataset> list;
  for (const Rows& rows : all) list.push_back(rows.inside().dataset);
  return list;
}

}  // namespace
}  // namespace library

Trained train(const Settings& settings, const std::vector<Rows>& parties, const std::vector<Rows>& test,
              const Hooks& hooks) {
  library::check_no_source(settings);
  library::refuse_settings(settings, {"nodes", "split", "split-column", "split-shares", "split-exponent", "split-seed"},
                           "this setting deals rows out, and each party's are given", "leave it out");
  if (parties.size() < 2)
    throw Error({.what = "one party has nobody to learn with",
                 .value = std::to_string(parties.size()) + " sets of rows",
                 .allowed = "two or more",
                 .where = "the parties' rows",
                 .fix = "give each party's rows, or deal one table with train_dealt"});
  return library::run_with(settings, hooks, [&](const run::TrainOptions& options, const run::Hooks& watching) {
    return run::train(options, data::holdings_of(library::datasets(parties), library::datasets(test)), watching);
  });
}

Trained train_dealt(const Settings& settings, const Rows& rows, const std::vector<Rows>& test, const Hooks& hooks) {
  library::check_no_source(settings);
  return library::run_with(settings, hooks, [&](run::TrainOptions options, const run::Hooks& watching) {
    options.data.test_share = 0;
    return run::train(options, data::holdings_dealt(options.data, rows.inside().dataset, library::datasets(test)),
                      watching);
  });
}

Trained train(const Settings& settings, const Hooks& hooks) {
  return library::run_with(settings, hooks, [&](const run::TrainOptions& options, const run::Hooks& watching) {
    return run::train(options, watching);
  });
}

}  // namespace parley
