#include "parley/run/simulate.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

#include "parley/algorithm/nodes.h"
#include "parley/algorithm/pricing.h"
#include "parley/base/error.h"
#include "parley/base/parallel.h"
#include "parley/base/text.h"
#include "parley/problem/metrics.h"
#include "parley/problem/solve.h"
#include "parley/record/record.h"
#include "parley/run/iterates.h"
#include "parley/run/model.h"
#include "parley/run/resume.h"

namespace parley::run {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

int thread_count(const TrainOptions& o) {
  if (o.engine.threads > 0) return static_cast<int>(o.engine.threads);
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

json round_json(int round, const RoundMetrics& m, const Study& s) {
  const bool data = s.plan.nodes.front().touches_data(round);
  json line = {{"round", round},
               {"kind", round == 0      ? "start"
                        : data          ? "data"
                        : s.plan.star() ? "trainer"
                                        : "recycled"},
               {"epsilon", m.epsilon},
               {"disagreement", m.disagreement}};
  json measured = json::object();
  if (m.train_loss) measured["train_loss"] = *m.train_loss;
  if (m.test_error) measured["test_error"] = *m.test_error;
  if (!measured.empty()) line["private"] = measured;
  if (!s.not_private.empty()) line["stamp"] = "NOT PRIVATE";
  return line;
}

// One pass over all rows, by node on all cores; sums in node order.
void measure(const Study& s, const Iterates& iterates, int threads, RoundMetrics& m, std::vector<double>& node_loss) {
  node_loss.assign(s.problems.size(), 0);
  parallel_for(s.parties(), threads, [&](int i) {
    const problem::Problem& p = s.problems[static_cast<std::size_t>(i)];
    node_loss[static_cast<std::size_t>(i)] = problem::mean_loss(*p.rows, p.loss, iterates.classifier(i));
  });
  double loss = 0;
  for (const double l : node_loss) loss += l;
  m.train_loss = loss / s.parties();
  if (s.holdings.test.count() > 0)
    m.test_error = problem::test_error(s.holdings.test, s.problems[0].loss, iterates.model());
}

// (ε, δ) of what a node has released in this planned run, all of it or through a round (the ledger of a resumed run has
// later ones).
double spent_epsilon(const privacy::Ledger& ledger, const algorithm::Plan& plan, int node,
                     std::size_t through = std::numeric_limits<std::size_t>::max()) {
  std::span<const privacy::Charge> charges = ledger.charges(node);
  if (through < charges.size()) charges = charges.first(through + 1);
  return algorithm::whole_run_epsilon(charges, plan.nodes[static_cast<std::size_t>(node)].delta);
}

const char* outcome_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const problem::Uncertified&) {
    return "uncertified";
  } catch (...) {
    return "failed";
  }
}

int worst_node(const algorithm::Plan& plan) {
  return static_cast<int>(std::ranges::max_element(plan.nodes, {}, &algorithm::Schedule::epsilon) - plan.nodes.begin());
}

Result run_once(const Study& study, const TrainOptions& o, int repeat, const std::string& folder, const Hooks& hooks,
                const std::shared_ptr<privacy::LedgerFile>& book, std::optional<Unfinished> unfinished) {
  const auto begin = Clock::now();
  const int threads = thread_count(o), nodes = study.graph.nodes();
  std::optional<std::uint64_t> seed = o.engine.seed;
  if (seed) *seed += static_cast<std::uint64_t>(repeat);
  const privacy::NoiseSource noise(seed);
  std::optional<privacy::Ledger> account;
  if (book) {
    privacy::PlannedRun planned = planned_run(study, o, *book);
    if (unfinished) planned.id = unfinished->run_id;
    account.emplace(book, planned);
  } else {
    account.emplace(nodes, study.not_private.empty());
  }
  privacy::Ledger& ledger = *account;
  std::optional<Past> past;
  if (unfinished) past.emplace(study, std::move(*unfinished), ledger);
  network::InProcess transport(study.graph);
  std::vector<std::unique_ptr<algorithm::Node>> machines;
  for (std::size_t i = 0; i < study.problems.size(); ++i)
    machines.push_back(algorithm::make_node(study.problems[i], study.plan.nodes[i]));
  if (study.plan.star()) machines.push_back(algorithm::make_trainer(study.plan, study.dimension()));
  json head = header_json(study, o, "running");
  head["privacy"] = privacy_json(study, study.plan.epsilon(), true);  // until the end: what it may cost, never less
  if (book) head["run_id"] = ledger.run_id();
  record::Writer record(folder, head, past ? std::optional(past->rounds()) : std::nullopt);
  std::optional<record::Lock> lock;  // a resumed run is locked already
  if (!past) lock.emplace(folder);

  Result result;
  result.record = folder;
  std::vector<double> node_loss;
  Iterates iterates(study.plan);
  const int worst = worst_node(study.plan), turns = study.plan.star() ? 2 : 1;  // rounds of messages per round
  const auto on_round = [&](int round, std::span<const privacy::Paid> paid) {
    iterates.add(round, paid);
    RoundMetrics m{.round = round / turns,
                   .epsilon = spent_epsilon(ledger, study.plan, worst, static_cast<std::size_t>(round)),
                   .disagreement = iterates.disagreement()};
    const bool replayed = past && round < past->rounds();  // already in the record: never stop short of it
    const bool whole = round % turns == 0, stopping = whole && !replayed && hooks.stop != nullptr && hooks.stop->load();
    if (whole && (o.engine.metrics == "every" || m.round == study.plan.options.rounds || stopping)) {
      const auto start = Clock::now();
      measure(study, iterates, threads, m, node_loss);
      result.seconds_metrics += seconds_since(start);
    }
    if (!replayed) {
      std::vector<const Vector*> values;
      for (const auto& p : paid) values.push_back(p.value().get());
      record.append(round_json(round, m, study), values);
    }
    if (!whole) return true;
    result.history.push_back(m);
    if (hooks.on_round) hooks.on_round(repeat, m);
    return !stopping;
  };
  const auto run = [&] {
    return drive(
        {.nodes = machines,
         .noise = &noise,
         .ledger = &ledger,
         .transport = &transport,
         .threads = threads,
         .release_bound = o.algorithm.release_bound,
         .released_before =
             [&](int node, int round) { return past ? past->release(node, round) : std::optional<privacy::Release>(); },
         .on_round = on_round},
        result.phases);
  };
  try {
    result.outcome = run();
  } catch (...) {  // the record must not go on saying "running"
    head["outcome"] = outcome_of(std::current_exception());
    try {
      record.finish(head, json());
    } catch (const Error&) {  // e.g. the same full disk: what ended the run is what is told
    }
    throw;
  }
  const bool completed_run = result.outcome == Outcome::completed;
  result.phases.record -= result.seconds_metrics;
  if (!result.history.back().train_loss) measure(study, iterates, threads, result.history.back(), node_loss);
  result.mean = iterates.model();
  for (int i = 0; i < study.parties(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const auto& s = study.plan.nodes[at];
    // Ended early on released values: the rounds done, for pure ε; at δ > 0 composition covers the planned run only.
    const double claim = completed_run || s.delta == 0 ? spent_epsilon(ledger, study.plan, i) : s.epsilon;
    result.epsilon = std::max(result.epsilon, claim);
    result.f.push_back(iterates.classifier(i));
    result.nodes.push_back({.node = i,
                            .degree = s.degree,
                            .records = study.problems[at].rows->count(),
                            .epsilon = claim,
                            .epsilon_paper = completed_run ? s.epsilon_paper : std::nullopt,
                            .train_loss = node_loss[at],
                            .distance = iterates.distance(i)});
  }
  result.seconds = seconds_since(begin);

  head = header_json(study, o, name_of(result.outcome));
  if (book) head["run_id"] = ledger.run_id();
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
  record.finish(head, result.outcome == Outcome::diverged ? json() : model_text);
  return result;
}

std::string default_folder(const std::string& algorithm) {
  const std::string text = timestamp();
  std::string folder = "runs/" + text + "-" + algorithm;
  for (int n = 2; std::filesystem::exists(folder); ++n)
    folder = "runs/" + text + "-" + algorithm + "-" + std::to_string(n);
  return folder;
}

}  // namespace

Summary train(const TrainOptions& options, const Hooks& hooks) {
  TrainOptions checked = options;
  validate_options(option_rows(checked));
  Summary summary{.study = prepare(options)};
  // The problems point into the holdings; moving a Study keeps the rows where they are (vectors move by pointer).
  summary.record = options.engine.out.empty() ? default_folder(options.algorithm.algorithm) : options.engine.out;
  if (options.engine.resume && (options.engine.out.empty() || options.engine.repeat > 1))
    throw Error({.what = "--resume continues one run, in its folder",
                 .where = "option --resume",
                 .fix = "give the --out of the run, and no --repeat"});
  if (!options.engine.resume) record::check_vacant(summary.record);
  std::shared_ptr<privacy::LedgerFile> book;
  if (options.engine.ledger.empty() != options.engine.dataset.empty())
    throw Error({.what = "--ledger and --dataset go together",
                 .where = options.engine.ledger.empty() ? "option --dataset" : "option --ledger",
                 .fix = "give both, or neither"});
  if (!options.engine.ledger.empty()) {
    book = std::make_shared<privacy::LedgerFile>(options.engine.ledger);
  }
  std::optional<record::Lock> lock;  // of the run that is resumed, before its record is read
  if (options.engine.resume && std::filesystem::is_directory(summary.record)) lock.emplace(summary.record);
  std::optional<Unfinished> unfinished;
  if (options.engine.resume) unfinished = find_unfinished(summary.study, options, summary.record, book.get());
  if (book) {  // for all runs together, before anything starts
    privacy::PlannedRun planned = planned_run(summary.study, options, *book);
    if (unfinished) planned.id = unfinished->run_id;
    book->check_room(planned, static_cast<int>(options.engine.repeat));
    for (const auto& warning : book->warnings()) summary.study.plan.warnings.push_back(warning);
    for (const auto& warning : book->warnings_about(planned)) summary.study.plan.warnings.push_back(warning);
  }
  if (!options.engine.resume) record::create_folder(summary.record);
  if (hooks.on_start) hooks.on_start(summary.study);
  for (int r = 0; r < options.engine.repeat; ++r) {
    std::string folder = summary.record;
    if (options.engine.repeat > 1) {
      std::string number_of_run = std::to_string(r + 1);
      number_of_run.insert(0, std::to_string(options.engine.repeat).size() - number_of_run.size(), '0');
      folder += "/run-" + number_of_run;
    }
    summary.runs.push_back(run_once(summary.study, options, r, folder, hooks, book, std::move(unfinished)));
    if (summary.runs.back().outcome == Outcome::interrupted) break;
  }
  return summary;
}

}  // namespace parley::run
