#include "parley/run/simulate.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/data/schema.h"
#include "parley/network/together.h"
#include "parley/record/record.h"
#include "parley/run/claim.h"
#include "parley/run/engine.h"
#include "parley/run/failure.h"
#include "parley/run/iterates.h"
#include "parley/run/measure.h"
#include "parley/run/model.h"
#include "parley/run/open_run.h"
#include "parley/run/quality/quality.h"
#include "parley/run/setting.h"

namespace parley::run {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

int worst_node(const algorithm::Plan& plan) {
  return static_cast<int>(std::ranges::max_element(plan.nodes, {}, &algorithm::Schedule::epsilon) - plan.nodes.begin());
}

// Rank 0 makes the folder; the others' are inside it.
record::Writer open_record(const std::string& folder, const json& head, const std::optional<PastReleases>& past,
                           network::Ranks& ranks) {
  if (ranks.rank() > 0) ranks.meet();
  record::Writer record(folder, head, past ? std::optional(past->kept()) : std::nullopt);
  if (ranks.rank() == 0) ranks.meet();
  return record;
}

class SimulatedRun {
 public:
  SimulatedRun(const Simulation& simulation, const TrainOptions& o, std::string folder, OpenRun& owner,
               network::Ranks& ranks)
      : s_(simulation),
        o_(o),
        owner_(owner),
        ranks_(ranks),
        threads_(o.engine.threads > 0 ? static_cast<int>(o.engine.threads) : ranks.cores()),
        folder_(std::move(folder)),
        engine_(engine_of(simulation, ranks)),
        iterates_(simulation.plan, engine_.nodes.size(), simulation.dimension(), ranks) {
    open_ledger();
    if (owner.unfinished) past_.emplace(s_, std::move(*owner.unfinished), *ledger_);
    json head = header("running");
    head["privacy"] = privacy_json(s_, s_.plan.cost(), true);  // until the end: what it may cost, never less
    record_.emplace(open_record(folder_, head, past_, ranks));
    if (!past_) lock_.emplace(folder_);  // a resumed run is locked already
  }

  Result run(const Hooks& hooks, int repeat) {
    std::optional<std::uint64_t> seed = o_.engine.seed;
    if (seed) *seed += static_cast<std::uint64_t>(repeat);
    const privacy::NoiseSource noise = noise_of(s_.plan, seed, ranks_);
    try {
      result_.outcome =
          drive({.nodes = engine_.nodes,
                 .noise = &noise,
                 .ledger = &*ledger_,
                 .transport = engine_.transport.get(),
                 .threads = threads_,
                 .release_bound = o_.algorithm.release_bound,
                 .released_before = [this](int node,
                                           int round) { return past_ ? past_->release(node, round) : std::nullopt; },
                 .unreleased = [this](int node, int round) { return without_value(node, round); },
                 .record = [this](int round, std::span<const privacy::Paid> paid) { record(round, paid); },
                 .watch = [&](int round, std::span<const privacy::Paid>) { return watch(round, hooks, repeat); },
                 .largest = [this](double mine) { return ranks_.largest({&mine, 1}), mine; }},
                result_.phases);
    } catch (...) {
      close_failed(std::current_exception());
      throw;
    }
    conclude();
    return std::move(result_);
  }

 private:
  int turns() const { return s_.plan.star() ? 2 : 1; }  // rounds of messages per round
  record::Kept kept() const { return past_ ? past_->kept() : record::Kept{}; }

  void open_ledger() {
    if (!owner_.book) {
      ledger_.emplace(s_.graph.nodes(), s_.not_private.empty());
      return;
    }
    ledger::PlannedRun planned = planned_run(s_, o_, *owner_.book, owner_.resumed_id);
    planned.folder = folder_;
    if (owner_.resumed_id.empty()) planned.id = ranks_.texts(planned.id).front();
    ledger_.emplace(owner_.book, planned);
  }

  json header(const std::string& outcome) const {
    json head = header_json(s_, o_, outcome);
    head["in_force"] = {{"graph", graph_shape(o_.graph, s_.selected.algorithm)}, {"threads", threads_}};
    if (owner_.book) head["run_id"] = ledger_->run_id(), head["ledger_head"] = owner_.book->recorded_head();
    if (ranks_.count() > 1) head["job_id"] = owner_.job_id;
    return head;
  }

  privacy::Release without_value(int node, int round) const {
    const bool holds = node < s_.parties();
    return unreleased(node, round, holds ? &s_.plan.nodes[static_cast<std::size_t>(node)] : nullptr);
  }

  void record(int round, std::span<const privacy::Paid> paid) {
    if (round < kept().values) return;
    std::vector<const Vector*> values;
    for (const auto& p : paid) values.push_back(p.value().get());
    record_->append_values(values);
  }

  // By the node that spends most; its process knows.
  double spent_through(int round, privacy::Against whom) const {
    const int worst = worst_node(s_.plan);
    return s_.holdings.holds(worst) ? spent_epsilon(*ledger_, s_.plan, worst, whom, static_cast<std::size_t>(round))
                                    : 0;
  }

  bool watch(int round, const Hooks& hooks, int repeat) {
    iterates_.add(round, engine_.nodes);
    const bool replayed = round < kept().values;  // already in the record: never stop short of it
    const bool asked = hooks.stop != nullptr && hooks.stop->load();
    std::array<double, 4> most = {spent_through(round, privacy::Against::colluders), replayed ? 1.0 : 0.0,
                                  asked ? 1.0 : 0.0, spent_through(round, privacy::Against::anybody)};
    ranks_.largest(most);
    RoundMetrics m{.round = round / turns(),
                   .epsilon = most[0],
                   .epsilon_all_others = most[3],
                   .disagreement = iterates_.disagreement()};
    const bool whole = round % turns() == 0, stopping = whole && most[1] == 0 && most[2] > 0;
    if (whole && (o_.engine.metrics == "every" || round == s_.plan.nodes.front().rounds || stopping)) {
      const auto start = Clock::now();
      measure(s_, iterates_, threads_, ranks_, m, node_loss_);
      result_.seconds_metrics += seconds_since(start);
    }
    if (round >= kept().lines) record_->append_line(round_json(round, m, s_));
    if (!whole) return true;
    result_.history.push_back(m);
    if (hooks.on_round && ranks_.rank() == 0) hooks.on_round(repeat, m);
    return !stopping;
  }

  // The record must not go on saying "running". A round that failed while it was solved must not be tried again with
  // other noise, whatever the reason; where the ledger could not store that, nothing is told of it.
  void close_failed(const std::exception_ptr& failure) {
    json head = header(ledger_->failed() ? "uncertified" : reason_of(failure));
    head["privacy"] = privacy_json(s_, s_.plan.cost(), true);
    try {
      record_->finish(head, json());
    } catch (const Error&) {  // e.g. the same full disk: what ended the run is what is told
    }
  }

  void conclude() {
    const bool whole = result_.outcome == Outcome::completed;
    result_.record = folder_;
    result_.phases.record -= result_.seconds_metrics;
    if (!result_.last().train_loss) measure(s_, iterates_, threads_, ranks_, result_.history.back(), node_loss_);
    result_.mean = iterates_.model();
    estimate_coefficients();
    if (const auto rows = scored_by_all(s_.holdings.test, s_.problems[0].loss, result_.mean, ranks_))
      result_.quality = problem::quality(*rows, measure_of(s_.holdings.schema_toml));
    for (std::size_t i = 0; i < s_.problems.size(); ++i) result_.f.push_back(iterates_.classifier(i));
    result_.nodes = node_summaries(s_, *ledger_, iterates_, node_loss_, whole, ranks_);
    for (const NodeSummary& n : result_.nodes) {
      result_.epsilon = std::max(result_.epsilon, n.epsilon);
      result_.epsilon_all_others = std::max(result_.epsilon_all_others, n.epsilon_all_others);
    }
    result_.seconds = seconds_since(begin_);
    const json privacy =
        privacy_json(s_, {.epsilon = result_.epsilon, .all_others = result_.epsilon_all_others}, whole);
    json head = last_header(privacy);
    json model = result_.outcome == Outcome::diverged ? json() : model_json(privacy);
    if (!result_.coefficients.empty()) {
      head["coefficients"] = to_json(result_.coefficients);
      model["coefficients"] = head["coefficients"];
      model["coefficients_assume"] = assumptions_of_intervals(s_.plan);
      if (ranks_.rank() == 0)
        write_file(std::filesystem::path(folder_) / coefficients_file,
                   coefficients_csv(result_.coefficients, s_.not_private.empty()));
    }
    if (ranks_.rank() == 0)
      record_->finish(head, model);  // first: where another rank's says completed, the model is there
    ranks_.meet();
    if (ranks_.rank() > 0) record_->finish(head, model);
  }

  // Every node has the same: a function of all releases.
  void estimate_coefficients() {
    if (result_.outcome != Outcome::completed || engine_.nodes.empty()) return;
    if (const auto* estimate = engine_.nodes.front()->estimate())
      result_.coefficients = coefficients(*estimate, data::parse_schema(s_.holdings.schema_toml, "the schema"));
  }

  json last_header(const json& privacy) const {
    const RoundMetrics& last = result_.last();
    json head = header(name_of(result_.outcome));
    head["privacy"] = privacy;
    head["rounds_done"] = last.round;
    head["private"] = {{"seconds", result_.seconds},  // how long a solver works depends on rows
                       {"train_loss", *last.train_loss},
                       {"train_loss_nonprivate", s_.train_loss_nonprivate}};
    if (last.test_error) {
      head["private"]["test_error"] = *last.test_error;
      head["private"]["test_error_nonprivate"] = s_.test_error_nonprivate;
      head["private"]["test_error_guessing"] = s_.test_error_guessing;
      head["private"].update(to_json(*result_.quality, class_names(s_.holdings.schema_toml, s_.holdings.classes)));
    }
    return head;
  }

  json model_json(const json& privacy) const {
    const Model model{.weights = result_.mean,
                      .feature_names = s_.holdings.feature_names,
                      .loss = s_.problems[0].loss,
                      .schema_toml = s_.holdings.schema_toml,
                      .not_private = s_.not_private,
                      .classes = s_.holdings.classes};
    json text = to_json(model, privacy);
    text["outcome"] = name_of(result_.outcome);
    text["selection"] = to_json(s_.selected);
    return text;
  }

  Clock::time_point begin_ = Clock::now();
  const Simulation& s_;
  const TrainOptions& o_;
  OpenRun& owner_;
  network::Ranks& ranks_;
  int threads_;
  std::string folder_;
  Engine engine_;
  Iterates iterates_;
  std::optional<ledger::Ledger> ledger_;
  std::optional<PastReleases> past_;  // of a run that is resumed
  std::optional<record::Writer> record_;
  std::optional<record::Lock> lock_;
  std::vector<double> node_loss_;
  Result result_;
};

}  // namespace

namespace {

// All runs of a simulation that is planned and has released nothing yet.
Summary run_all(Simulation simulation, const TrainOptions& options, const Hooks& hooks, network::Ranks& ranks) {
  Summary summary{.simulation = std::move(simulation), .runs = {}, .record = {}};
  summary.record = ranks
                       .texts(options.engine.out.empty() ? default_folder(summary.simulation.selected.algorithm)
                                                         : options.engine.out)
                       .front();
  OpenRun owner = open_run(summary.simulation, options, summary.record, ranks);
  if (hooks.on_start && ranks.rank() == 0) hooks.on_start(summary.simulation);
  for (int r = 0; r < options.engine.repeat; ++r) {
    std::string folder = summary.record;
    if (options.engine.repeat > 1) {
      std::string number_of_run = std::to_string(r + 1);
      number_of_run.insert(0, std::to_string(options.engine.repeat).size() - number_of_run.size(), '0');
      folder += "/run-" + number_of_run;
    }
    SimulatedRun run(summary.simulation, options, record::folder_of_rank(folder, ranks.rank()).string(), owner, ranks);
    summary.runs.push_back(run.run(hooks, r));
    if (summary.runs.back().outcome == Outcome::interrupted) break;
  }
  return summary;
}

}  // namespace

Summary train(const TrainOptions& options, const Hooks& hooks) {
  network::Ranks alone;
  return train(options, hooks, alone);
}

Summary train(const TrainOptions& options, const Hooks& hooks, network::Ranks& ranks) {
  together(ranks, [&] { check_options(options); });
  return run_all(prepare(options, ranks, hooks.watch), options, hooks, ranks);
}

Summary train(const TrainOptions& options, data::Holdings holdings, const Hooks& hooks) {
  network::Ranks alone;
  check_options(options);
  return run_all(prepare(options, alone, std::move(holdings)), options, hooks, alone);
}

}  // namespace parley::run
