#include "parley/run/simulate.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "parley/algorithm/nodes.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/record/record.h"
#include "parley/run/failure.h"
#include "parley/run/iterates.h"
#include "parley/run/measure.h"
#include "parley/run/model.h"
#include "parley/run/start.h"
#include "parley/run/together.h"

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
record::Writer open_record(const std::string& folder, const json& head, const std::optional<Past>& past,
                           network::Ranks& ranks) {
  if (ranks.rank() > 0) ranks.meet();
  record::Writer record(folder, head, past ? std::optional(past->kept()) : std::nullopt);
  if (ranks.rank() == 0) ranks.meet();
  return record;
}

Result run_once(const Study& study, const TrainOptions& o, int repeat, const std::string& folder, const Hooks& hooks,
                Start& owner, network::Ranks& ranks) {
  const auto begin = Clock::now();
  const int threads = o.engine.threads > 0 ? static_cast<int>(o.engine.threads) : ranks.cores();
  std::optional<std::uint64_t> seed = o.engine.seed;
  if (seed) *seed += static_cast<std::uint64_t>(repeat);
  const privacy::NoiseSource noise(seed);
  std::optional<privacy::Ledger> account;
  if (owner.book) {
    privacy::PlannedRun planned = planned_run(study, o, *owner.book);
    planned.id = owner.resumed_id.empty() ? ranks.texts(planned.id).front() : owner.resumed_id;
    account.emplace(owner.book, planned);
  } else {
    account.emplace(study.graph.nodes(), study.not_private.empty());
  }
  privacy::Ledger& ledger = *account;
  std::optional<Past> past;
  if (owner.unfinished) past.emplace(study, std::move(*owner.unfinished), ledger);
  const auto transport = ranks.transport(study.graph, study.blocks(), study.dimension(),
                                         [&](int node, int round) { return study.plan.speaks(node, round); });
  std::vector<std::unique_ptr<algorithm::Node>> machines;
  for (std::size_t i = 0; i < study.problems.size(); ++i)
    machines.push_back(
        algorithm::make_node(study.problems[i], study.plan.nodes[i + static_cast<std::size_t>(study.first())]));
  if (study.hosts_trainer()) machines.push_back(algorithm::make_trainer(study.plan, study.dimension()));
  json head = header_json(study, o, "running");
  head["privacy"] = privacy_json(study, study.plan.epsilon(), true);  // until the end: what it may cost, never less
  if (owner.book) head["run_id"] = ledger.run_id();
  if (ranks.count() > 1) head["job_id"] = owner.job_id;
  record::Writer record = open_record(folder, head, past, ranks);
  std::optional<record::Lock> lock;  // a resumed run is locked already
  if (!past) lock.emplace(folder);

  Result result;
  result.record = folder;
  std::vector<double> node_loss;
  Iterates iterates(study.plan, machines.size(), study.dimension(), ranks);
  const int worst = worst_node(study.plan), turns = study.plan.star() ? 2 : 1;  // rounds of messages per round
  const auto on_round = [&](int round, std::span<const privacy::Paid> paid) {
    const record::Kept kept = past ? past->kept() : record::Kept{};
    const bool replayed = round < kept.values;  // already in the record: never stop short of it
    if (!replayed) {                            // before any other rank hears of them, even in a sum
      std::vector<const Vector*> values;
      for (const auto& p : paid) values.push_back(p.value().get());
      record.append_values(values);
    }
    iterates.add(round, paid);
    const double spent = study.holdings.holds(worst)
                             ? spent_epsilon(ledger, study.plan, worst, static_cast<std::size_t>(round))
                             : 0;  // its process knows
    std::array<double, 3> most = {spent, replayed ? 1.0 : 0.0, hooks.stop != nullptr && hooks.stop->load() ? 1.0 : 0.0};
    ranks.largest(most);
    RoundMetrics m{.round = round / turns, .epsilon = most[0], .disagreement = iterates.disagreement()};
    const bool whole = round % turns == 0, stopping = whole && most[1] == 0 && most[2] > 0;
    if (whole && (o.engine.metrics == "every" || m.round == study.plan.options.rounds || stopping)) {
      const auto start = Clock::now();
      measure(study, iterates, threads, ranks, m, node_loss);
      result.seconds_metrics += seconds_since(start);
    }
    if (round >= kept.lines) record.append_line(round_json(round, m, study));
    if (!whole) return true;
    result.history.push_back(m);
    if (hooks.on_round && ranks.rank() == 0) hooks.on_round(repeat, m);
    return !stopping;
  };
  const auto run = [&] {
    return drive(
        {.nodes = machines,
         .noise = &noise,
         .ledger = &ledger,
         .transport = transport.get(),
         .threads = threads,
         .release_bound = o.algorithm.release_bound,
         .released_before =
             [&](int node, int round) { return past ? past->release(node, round) : std::optional<privacy::Release>(); },
         .unreleased =
             [&](int node, int round) {
               const bool holds = node < study.parties();
               return unreleased(node, round, holds ? &study.plan.nodes[static_cast<std::size_t>(node)] : nullptr);
             },
         .on_round = on_round,
         .largest =
             [&](double mine) {
               ranks.largest({&mine, 1});
               return mine;
             }},
        result.phases);
  };
  try {
    result.outcome = run();
  } catch (...) {  // the record must not go on saying "running"
    head["outcome"] = reason_of(std::current_exception());
    try {
      record.finish(head, json());
    } catch (const Error&) {  // e.g. the same full disk: what ended the run is what is told
    }
    throw;
  }
  const bool completed_run = result.outcome == Outcome::completed;
  result.phases.record -= result.seconds_metrics;
  if (!result.history.back().train_loss) measure(study, iterates, threads, ranks, result.history.back(), node_loss);
  result.mean = iterates.model();
  for (std::size_t i = 0; i < study.problems.size(); ++i) result.f.push_back(iterates.classifier(i));
  result.nodes = node_summaries(study, ledger, iterates, node_loss, completed_run, ranks);
  for (const NodeSummary& n : result.nodes) result.epsilon = std::max(result.epsilon, n.epsilon);
  result.seconds = seconds_since(begin);

  head = header_json(study, o, name_of(result.outcome));
  if (owner.book) head["run_id"] = ledger.run_id();
  if (ranks.count() > 1) head["job_id"] = owner.job_id;
  head["privacy"] = privacy_json(study, result.epsilon, completed_run);
  head["rounds_done"] = result.last().round;
  head["private"] = {{"seconds", result.seconds},  // how long a solver works depends on rows
                     {"train_loss", *result.last().train_loss},
                     {"train_loss_nonprivate", study.train_loss_nonprivate}};
  if (result.last().test_error) {
    head["private"]["test_error"] = *result.last().test_error;
    head["private"]["test_error_nonprivate"] = study.test_error_nonprivate;
  }
  const Model model{.weights = result.mean,
                    .feature_names = study.holdings.feature_names,
                    .loss = study.problems[0].loss,
                    .schema_toml = study.holdings.schema_toml,
                    .not_private = study.not_private,
                    .classes = study.holdings.classes};
  json model_text = to_json(model, privacy_json(study, result.epsilon, completed_run));
  model_text["outcome"] = name_of(result.outcome);
  const auto finish = [&] { record.finish(head, result.outcome == Outcome::diverged ? json() : model_text); };
  if (ranks.rank() == 0) finish();  // first: where another rank's record says completed, the model is there
  ranks.meet();
  if (ranks.rank() > 0) finish();
  return result;
}

std::string hosting(const Study& s) {
  const int first = s.first(), last = s.holdings.end() - 1;
  const std::string trainer = s.hosts_trainer() ? " and the trainer" : "";
  if (first == last) return "node " + std::to_string(first) + trainer;
  return "nodes " + std::to_string(first) + " to " + std::to_string(last) + trainer;
}

}  // namespace

Summary train(const TrainOptions& options, const Hooks& hooks) {
  network::Ranks alone;
  return train(options, hooks, alone);
}

Summary train(const TrainOptions& options, const Hooks& hooks, network::Ranks& ranks) {
  together(ranks, [&] { check_options(options); });
  Summary summary{.study = prepare(options, ranks)};
  ranks.introduce(hosting(summary.study));
  summary.record =
      ranks.texts(options.engine.out.empty() ? default_folder(options.algorithm.algorithm) : options.engine.out)
          .front();
  Start owner = start(summary.study, options, summary.record, ranks);
  if (hooks.on_start && ranks.rank() == 0) hooks.on_start(summary.study);
  for (int r = 0; r < options.engine.repeat; ++r) {
    std::string folder = summary.record;
    if (options.engine.repeat > 1) {
      std::string number_of_run = std::to_string(r + 1);
      number_of_run.insert(0, std::to_string(options.engine.repeat).size() - number_of_run.size(), '0');
      folder += "/run-" + number_of_run;
    }
    summary.runs.push_back(run_once(summary.study, options, r, record::folder_of_rank(folder, ranks.rank()).string(),
                                    hooks, owner, ranks));
    if (summary.runs.back().outcome == Outcome::interrupted) break;
  }
  return summary;
}

}  // namespace parley::run
