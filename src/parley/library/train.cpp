#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/library/inside.h"
#include "parley/run/claim.h"
#include "parley/run/compare.h"
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

// Where the rows come from is an argument, not a setting.
void check_no_source(const Settings& settings) {
  for (const char* name : {"data", "data-dir", "schema", "format", "header", "delimiter", "query", "features",
                           "preprocessing", "rows", "test-data", "public-data", "public-rows", "engine"})
    if (settings.contains(name))
      throw Error({.what = "this setting says where rows come from, and the rows are given",
                   .where = std::string("setting '") + name + "'",
                   .fix = "leave it out, or train by names of files alone"});
}

Progress progress_of(const run::RoundMetrics& m, int rounds) {
  return {.round = m.round,
          .rounds = rounds,
          .epsilon = m.epsilon,
          .epsilon_all_others = m.epsilon_all_others,
          .disagreement = m.disagreement,
          .train_loss = m.train_loss,
          .test_error = m.test_error};
}

Guarantee guarantee_of(const nlohmann::json& privacy, const std::vector<std::string>& not_private) {
  const auto amount = [&](const char* key) {
    return privacy.at(key).is_number() ? privacy.at(key).get<double>() : std::numeric_limits<double>::infinity();
  };
  return {.epsilon = amount("epsilon"),
          .epsilon_all_others = amount("epsilon_all_others"),
          .delta = privacy.at("delta").is_number() ? privacy.at("delta").get<double>() : 0,
          .against = privacy.at("against").get<std::string>(),
          .theorem = privacy.at("theorem").get<std::string>(),
          .bound = privacy.at("bound").get<std::string>(),
          .not_private = not_private};
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
  for (const run::RoundMetrics& m : last.history)
    t.history.push_back(progress_of(m, static_cast<int>(summary.simulation.plan.options.rounds)));
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

run::Hooks hooks_of(const Hooks& hooks, int& rounds) {
  return {.on_start = [&](const run::Simulation& s) { rounds = static_cast<int>(s.plan.options.rounds); },
          .on_round =
              [&](int, const run::RoundMetrics& m) {
                if (hooks.on_round) hooks.on_round(progress_of(m, rounds));
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
  run::check_budget(options);
  std::optional<Unkept> unkept;
  if (options.engine.out.empty() && options.engine.ledger.empty()) options.engine.out = unkept.emplace().record();
  int rounds = 0;
  return trained_of(how(options, hooks_of(hooks, rounds)), options, !unkept);
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
