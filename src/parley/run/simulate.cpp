#include "parley/run/simulate.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

#include "parley/algorithm/peer_node.h"
#include "parley/algorithm/pricing.h"
#include "parley/base/error.h"
#include "parley/base/parallel.h"
#include "parley/base/text.h"
#include "parley/data/sha256.h"
#include "parley/problem/metrics.h"
#include "parley/problem/solve.h"
#include "parley/record/record.h"
#include "parley/run/model.h"

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

json round_json(const RoundMetrics& m, const Study& s) {
  const bool data = s.plan.nodes.front().touches_data(m.round);
  json line = {{"round", m.round},
               {"kind", m.round == 0 ? "start"
                        : data       ? "data"
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

struct Means {
  Vector mean;
  double disagreement = 0;
};

Means consensus(const std::vector<Vector>& f) {
  Means m{.mean = Vector::Zero(f.front().size())};
  for (const Vector& each : f) m.mean += each;
  m.mean /= static_cast<double>(f.size());
  for (const Vector& each : f) m.disagreement = std::max(m.disagreement, (each - m.mean).norm());
  return m;
}

// One pass over all rows, by node on all cores; sums in node order.
void measure(const Study& s, const std::vector<Vector>& f, const Vector& mean, int threads, RoundMetrics& m,
             std::vector<double>& node_loss) {
  const int nodes = s.graph.nodes();
  node_loss.assign(static_cast<std::size_t>(nodes), 0);
  parallel_for(nodes, threads, [&](int i) {
    const auto at = static_cast<std::size_t>(i);
    node_loss[at] = problem::mean_loss(*s.problems[at].rows, s.problems[at].loss, f[at]);
  });
  double loss = 0;
  for (const double l : node_loss) loss += l;
  m.train_loss = loss / nodes;
  if (s.holdings.test.count() > 0) m.test_error = problem::test_error(s.holdings.test, s.problems[0].loss, mean);
}

std::string timestamp() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y%m%d-%H%M%S", &parts);
  return text;
}

// The released iterates as they are, and with averaging the mean of those that touched data in the later half of the
// rounds (a recycled iterate repeats the noise of the round before): a function of released values, free.
class Average {
 public:
  Average(const algorithm::Plan& plan)
      : schedule_(plan.nodes.front()), first_(plan.average ? schedule_.rounds / 2 + 1 : schedule_.rounds + 1) {}

  std::vector<Vector> after(int round, const std::vector<const Vector*>& released) {
    const bool averaging = round >= first_ && (count_ > 0 || schedule_.touches_data(round));
    if (!averaging) {
      sum_.clear();
      for (const Vector* f : released) sum_.push_back(*f);
      return sum_;
    }
    if (schedule_.touches_data(round)) {
      for (std::size_t i = 0; i < released.size(); ++i)
        sum_[i] = count_ == 0 ? *released[i] : Vector(sum_[i] + *released[i]);
      ++count_;
    }
    std::vector<Vector> mean;
    for (const Vector& s : sum_) mean.push_back(s / count_);
    return mean;
  }

 private:
  const algorithm::Schedule& schedule_;
  long first_;
  int count_ = 0;
  std::vector<Vector> sum_;
};

// (ε, δ) of what a node has released so far in this planned run.
double spent_epsilon(const privacy::Ledger& ledger, const algorithm::Plan& plan, int node) {
  return algorithm::whole_run_epsilon(ledger.charges(node), plan.nodes[static_cast<std::size_t>(node)].delta);
}

int worst_node(const algorithm::Plan& plan) {
  return static_cast<int>(std::ranges::max_element(plan.nodes, {}, &algorithm::Schedule::epsilon) - plan.nodes.begin());
}

// What a run is going to charge to the owner's ledger: in a simulation all nodes hold parts of one dataset.
privacy::PlannedRun planned_run(const Study& study, const TrainOptions& o, const privacy::LedgerFile& book) {
  privacy::Fingerprint fingerprint = book.fingerprint();
  double fewest = std::numeric_limits<double>::infinity();
  privacy::PlannedRun run;
  for (const auto& p : study.problems) {
    const data::Rows& rows = *p.rows;
    const auto bytes = [](const auto& v) {
      return std::string_view(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(v[0]));
    };
    for (const std::string_view part : {bytes(rows.column), bytes(rows.value), bytes(rows.label)})
      fingerprint.add(part);
    fewest = std::min(fewest, static_cast<double>(rows.count()));
  }
  for (const auto& s : study.plan.nodes) {
    privacy::PlannedRun::Account account{.node = s.node, .dataset = o.engine.dataset};
    for (const auto& r : s.private_rounds) account.planned.push_back(r.charge);
    run.accounts.push_back(std::move(account));
  }
  run.datasets = {{.name = o.engine.dataset, .fingerprint = fingerprint.text(), .records = fewest}};
  run.configuration = data::sha256_hex(header_json(study, o, "").dump());
  run.started = timestamp();
  run.not_private = study.not_private;
  return run;
}

Result run_once(const Study& study, const TrainOptions& o, int repeat, const std::string& folder, const Hooks& hooks,
                const std::shared_ptr<privacy::LedgerFile>& book) {
  const auto begin = Clock::now();
  const int threads = thread_count(o), nodes = study.graph.nodes();
  std::optional<std::uint64_t> seed = o.engine.seed;
  if (seed) *seed += static_cast<std::uint64_t>(repeat);
  const privacy::NoiseSource noise(seed);
  privacy::Ledger ledger =
      book ? privacy::Ledger(book, planned_run(study, o, *book)) : privacy::Ledger(nodes, study.not_private.empty());
  network::InProcess transport(study.graph);
  std::vector<std::unique_ptr<algorithm::Node>> machines;
  for (int i = 0; i < nodes; ++i)
    machines.push_back(algorithm::make_node(study.problems[static_cast<std::size_t>(i)],
                                            study.plan.nodes[static_cast<std::size_t>(i)]));
  json head = header_json(study, o, "running");
  head["privacy"] = privacy_json(study, study.plan.epsilon(), true);  // until the end: what it may cost, never less
  if (book) head["run_id"] = ledger.run_id();
  record::Writer record(folder, head);

  Result result;
  result.record = folder;
  std::vector<double> node_loss;
  Average average(study.plan);
  const int worst = worst_node(study.plan);
  const auto on_round = [&](int round, std::span<const privacy::Paid> paid) {
    std::vector<const Vector*> values;
    for (const auto& p : paid) values.push_back(p.value().get());
    result.f = average.after(round, values);
    const Means means = consensus(result.f);
    result.mean = means.mean;
    RoundMetrics m{
        .round = round, .epsilon = spent_epsilon(ledger, study.plan, worst), .disagreement = means.disagreement};
    const bool stopping = hooks.stop != nullptr && hooks.stop->load();
    if (o.engine.metrics == "every" || round == o.algorithm.rounds || stopping) {
      const auto start = Clock::now();
      measure(study, result.f, means.mean, threads, m, node_loss);
      result.seconds_metrics += seconds_since(start);
    }
    record.append(round_json(m, study), values);
    result.history.push_back(m);
    if (hooks.on_round) hooks.on_round(repeat, m);
    return !stopping;
  };
  const auto run = [&] {
    return drive({.nodes = machines,
                  .noise = &noise,
                  .ledger = &ledger,
                  .transport = &transport,
                  .threads = threads,
                  .release_bound = o.algorithm.release_bound,
                  .on_round = on_round},
                 result.phases);
  };
  try {
    result.outcome = run();
  } catch (...) {  // the record must not go on saying "running"
    head["outcome"] = "failed";
    record.finish(head, json());
    throw;
  }
  const bool completed_run = result.outcome == Outcome::completed;
  result.phases.record -= result.seconds_metrics;
  if (!result.history.back().train_loss)
    measure(study, result.f, result.mean, threads, result.history.back(), node_loss);
  for (int i = 0; i < nodes; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const auto& s = study.plan.nodes[at];
    // Ended early on released values: the rounds done, for pure ε; at δ > 0 composition covers the planned run only.
    const double claim = completed_run || s.delta == 0 ? spent_epsilon(ledger, study.plan, i) : s.epsilon;
    result.epsilon = std::max(result.epsilon, claim);
    result.nodes.push_back({.node = i,
                            .degree = s.degree,
                            .records = study.problems[at].rows->count(),
                            .epsilon = claim,
                            .epsilon_paper = completed_run ? s.epsilon_paper : std::nullopt,
                            .train_loss = node_loss[at],
                            .distance = (result.f[at] - result.mean).norm()});
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
                    .not_private = study.not_private};
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
  std::shared_ptr<privacy::LedgerFile> book;
  if (options.engine.ledger.empty() != options.engine.dataset.empty())
    throw Error({.what = "--ledger and --dataset go together",
                 .where = options.engine.ledger.empty() ? "option --dataset" : "option --ledger",
                 .fix = "give both, or neither"});
  if (!options.engine.ledger.empty()) {
    book = std::make_shared<privacy::LedgerFile>(options.engine.ledger);
    book->check_room(planned_run(summary.study, options, *book),
                     static_cast<int>(options.engine.repeat));  // before anything starts
    for (const auto& warning : book->warnings()) summary.study.plan.warnings.push_back(warning);
  }
  record::create_folder(summary.record);
  if (hooks.on_start) hooks.on_start(summary.study);
  for (int r = 0; r < options.engine.repeat; ++r) {
    std::string folder = summary.record;
    if (options.engine.repeat > 1) {
      std::string number_of_run = std::to_string(r + 1);
      number_of_run.insert(0, std::to_string(options.engine.repeat).size() - number_of_run.size(), '0');
      folder += "/run-" + number_of_run;
    }
    summary.runs.push_back(run_once(summary.study, options, r, folder, hooks, book));
    if (summary.runs.back().outcome == Outcome::interrupted) break;
  }
  return summary;
}

json to_json(const Summary& s, const TrainOptions& o) {
  const auto over_runs = [&](auto of) -> json {
    std::vector<double> values;
    for (const Result& r : s.runs)
      if (const std::optional<double> v = of(r)) values.push_back(*v);
    if (values.empty()) return nullptr;
    if (o.engine.repeat == 1) return values[0];
    double sum = 0;
    for (const double v : values) sum += v;
    return {{"mean", sum / static_cast<double>(values.size())},
            {"min", *std::ranges::min_element(values)},
            {"max", *std::ranges::max_element(values)}};
  };
  double seconds = 0, spent = 0;
  privacy::UpwardSum all_runs;
  for (const Result& r : s.runs) {
    seconds += r.seconds;
    spent = std::max(spent, r.epsilon);
    all_runs.add(r.epsilon);
  }
  json nodes = json::array();
  for (const NodeSummary& n : s.runs.back().nodes)
    nodes.push_back({{"node", n.node},
                     {"degree", n.degree},
                     {"records", n.records},
                     {"epsilon", s.study.plan.noisy() ? json(n.epsilon) : json()},
                     {"epsilon_paper", n.epsilon_paper ? json(*n.epsilon_paper) : json()},
                     {"train_loss", n.train_loss},
                     {"distance", n.distance}});
  const bool tested = s.study.holdings.test.count() > 0;
  json j = privacy_json(s.study, spent, s.runs.back().outcome == Outcome::completed);
  j.update(
      {{"algorithm", o.algorithm.algorithm},
       {"data", s.study.holdings.name},
       {"nodes", s.study.graph.nodes()},
       {"features", s.study.holdings.test.features},
       {"rounds", o.algorithm.rounds},
       {"private_rounds", s.study.plan.nodes[0].private_rounds.size()},
       {"outcome", name_of(s.runs.back().outcome)},
       {"test_error", over_runs([](const Result& r) { return r.last().test_error; })},
       {"test_error_nonprivate", tested ? json(s.study.test_error_nonprivate) : json()},
       {"train_loss", over_runs([](const Result& r) { return r.last().train_loss; })},
       {"train_loss_nonprivate", s.study.train_loss_nonprivate},
       {"disagreement", over_runs([](const Result& r) { return std::optional(r.last().disagreement); })},
       {"distance_to_optimum",
        over_runs([&](const Result& r) { return std::optional((r.mean - s.study.optimum).norm()); })},
       {"seeded", o.engine.seed.has_value()},
       {"repeat", s.runs.size()},
       {"epsilon_all_runs", s.study.plan.noisy() ? json(all_runs.value()) : json()},  // for whoever sees every repeat
       {"seconds", seconds},
       {"node_results", nodes},
       {"warnings", s.study.plan.warnings},
       {"record", s.record}});
  return j;
}

}  // namespace parley::run
