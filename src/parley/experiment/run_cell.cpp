#include "parley/experiment/run_cell.h"

#include <algorithm>
#include <ctime>

#include "parley/algorithm/catalog.h"
#include "parley/algorithm/noise_used.h"
#include "parley/experiment/charges.h"
#include "parley/experiment/judge.h"
#include "parley/problem/metrics.h"
#include "parley/run/claim.h"
#include "parley/run/engine.h"
#include "parley/run/iterates.h"
#include "parley/run/measure.h"
#include "parley/run/open_run.h"

namespace parley::experiment {
namespace {

double processor_seconds() {  // of this thread: what else the machine does is not counted
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double objective(const problem::Problem& p, const Vector& f) {  // O_i(f)
  return p.weight * static_cast<double>(p.rows->count()) * problem::mean_loss(*p.rows, p.loss, f) +
         p.regularization / 2 * f.squaredNorm() + p.l1 * f.lpNorm<1>();
}

// HHCG20 §VI, "expected augmented objective value": Σ_i f_i(w̄_i) + ‖w̄_i − w̄‖ with means over the rounds so far.
class Averages {
 public:
  void add(const run::Simulation& simulation, std::span<const privacy::Paid> paid) {  // one call per message round
    const auto parties = static_cast<std::size_t>(simulation.parties());
    if (sum_.empty()) sum_.assign(parties + 1, Vector::Zero(simulation.dimension()));
    for (const auto& p : paid)
      if (p.value()->size() > 0) sum_[static_cast<std::size_t>(p.node())] += *p.value();
  }
  double value(const run::Simulation& simulation, int rounds) const {
    const auto parties = static_cast<std::size_t>(simulation.parties());
    if (rounds == 0) {  // the zero start
      double at_zero = 0;
      for (const auto& p : simulation.problems) at_zero += objective(p, Vector::Zero(simulation.dimension()));
      return at_zero;
    }
    Vector centre = simulation.plan.star() ? sum_[parties] : Vector::Zero(simulation.dimension());
    if (!simulation.plan.star())
      for (std::size_t i = 0; i < parties; ++i) centre += sum_[i] / static_cast<double>(parties);
    double total = 0;
    for (std::size_t i = 0; i < parties; ++i)
      total += objective(simulation.problems[i], sum_[i] / rounds) + (sum_[i] - centre).norm() / rounds;
    return total;
  }

 private:
  std::vector<Vector> sum_;
};

Facts facts_of(const run::Simulation& s, std::optional<std::uint64_t> seed) {
  const algorithm::Schedule& first = s.plan.nodes.front();
  Facts f{.nodes = s.parties(),
          .least_records = std::ranges::min(s.holdings.records),
          .most_records = std::ranges::max(s.holdings.records),
          .test_rows = s.test_rows,
          .features = static_cast<long>(s.holdings.test.features),
          .rounds = s.plan.options.rounds,
          .private_rounds = static_cast<long>(first.private_rounds.size()),
          .noisy = s.plan.noisy(),
          .not_private = s.not_private,
          .adjacency = s.adjacency,
          .warnings = s.plan.warnings};
  if (!f.noisy) return f;
  for (const std::string& stamp : run::noise_stamps(s.plan, seed)) std::erase(f.not_private, stamp);
  f.not_private.emplace_back("noise from fixed seeds");  // each repeat has its own
  f.epsilon = s.plan.epsilon();
  f.delta = first.delta;
  f.epsilon_paper = s.plan.epsilon_paper();
  if (!f.epsilon_paper) f.epsilon_paper_absent = s.plan.epsilon_paper_absent();
  f.noise_level = algorithm::noise_level(first, 0);
  return f;
}

struct Running {
  const run::Simulation& simulation;
  const run::TrainOptions& options;
  const Wanted& wanted;
  const std::function<void()>& on_round;
  const std::atomic<bool>& stop;
};

run::Outcome run_once(const Running& r, std::map<Metric, Curve>& curves) {
  const run::Simulation& simulation = r.simulation;
  network::Ranks alone;
  const privacy::NoiseSource noise = run::noise_of(simulation.plan, r.options.engine.seed, alone);
  ledger::Ledger ledger(simulation.graph.nodes(), simulation.not_private.empty());
  const run::Engine engine = run::engine_of(simulation, alone);
  run::Iterates iterates(simulation.plan, engine.nodes.size(), simulation.dimension(), alone);
  Averages averages;
  std::vector<double> node_loss;
  const int turns = simulation.plan.star() ? 2 : 1;
  const double begin = processor_seconds(), size = simulation.optimum.norm();
  double measuring = 0;
  const auto each_round = [&](int message_round, std::span<const privacy::Paid> paid) {
    const double start = processor_seconds();
    iterates.add(message_round, engine.nodes);
    if (message_round > 0 && r.wanted.ever.contains(Metric::augmented_objective)) averages.add(simulation, paid);
    if (message_round % turns != 0) {
      measuring += processor_seconds() - start;
      return true;
    }
    const int round = message_round / turns;
    const bool last = message_round == simulation.plan.nodes.front().rounds;
    const auto wants = [&](Metric m) { return r.wanted.at(m, last); };
    curves[Metric::disagreement].push_back(iterates.disagreement());
    if (r.wanted.ever.contains(Metric::distance) && size > 0) {
      double far = 0;
      for (std::size_t i = 0; i < simulation.problems.size(); ++i)
        far = std::max(far, (iterates.classifier(i) - simulation.optimum).norm());
      curves[Metric::distance].push_back(far / size);
    }
    if (wants(Metric::augmented_objective))
      curves[Metric::augmented_objective].push_back(averages.value(simulation, round));
    run::RoundMetrics m{.round = round};
    if (last || wants(Metric::train_loss) || wants(Metric::test_error))
      run::measure(simulation, iterates, 1, alone, m, node_loss);
    curves[Metric::train_loss].push_back(m.train_loss.value_or(nothing));
    curves[Metric::test_error].push_back(m.test_error.value_or(nothing));
    measuring += processor_seconds() - start;
    curves[Metric::seconds].push_back(processor_seconds() - begin - measuring);
    r.on_round();
    return !r.stop.load();
  };
  run::Phases phases;
  return run::drive({.nodes = engine.nodes,
                     .noise = &noise,
                     .ledger = &ledger,
                     .transport = engine.transport.get(),
                     .threads = 1,
                     .release_bound = r.options.algorithm.release_bound,
                     .watch = each_round},
                    phases);
}

}  // namespace

std::vector<Job> jobs(const Experiment& e, const std::vector<Cell>& cells) {
  std::vector<Job> all;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    // Without noise every repeat on the same split would be the same run.
    const bool noiseless = cells[c].options.algorithm.noise == algorithm::Noise::none ||
                           !algorithm::algorithm_named(cells[c].options.algorithm.algorithm).noisy;
    if (e.over_splits)
      for (long r = 0; r < e.repeats; ++r) all.push_back({.cell = c, .first = r, .count = 1});
    else
      all.push_back({.cell = c, .first = 0, .count = noiseless ? 1 : e.repeats});
  }
  return all;
}

Wanted wanted(const Experiment& e) {
  Wanted w;
  for (const Panel& p : e.panels) {
    w.ever.insert(p.y);
    if (p.x == Axis::round) w.every_round.insert(p.y);
  }
  for (const Judge& j : e.judges) {
    w.ever.insert(j.y);
    if (reads_rounds(j)) w.every_round.insert(j.y);
  }
  return w;
}

std::optional<Measured> run_job(const Experiment& e, const Cell& cell, const Job& job, const Wanted& wanted,
                                const std::function<void()>& on_round, const std::atomic<bool>& stop) {
  network::Ranks alone;
  run::TrainOptions options = seeded(cell, e, job.first);
  run::check_options(options);
  run::Simulation simulation = run::prepare(options, alone);
  if (cell.match) match_noise(simulation, options, cell);
  Measured m{.name = cell.name,
             .series = cell.series,
             .legend = cell.legend,
             .value = cell.value,
             .facts = facts_of(simulation, options.engine.seed)};
  m.optimum[Metric::train_loss].push_back(simulation.train_loss_nonprivate);
  m.optimum[Metric::test_error].push_back(simulation.test_error_nonprivate);
  const auto length = static_cast<std::size_t>(simulation.plan.options.rounds) + 1;
  const auto charged = [&](Metric metric, Curve (*of)(const algorithm::Plan&)) {
    return simulation.plan.noisy() && wanted.ever.contains(metric) ? of(simulation.plan) : Curve(length, nothing);
  };
  const Curve epsilon = charged(Metric::epsilon, epsilon_so_far),
              epsilon_paper = charged(Metric::epsilon_paper, epsilon_paper_so_far);
  for (long r = 0; r < job.count; ++r) {
    options.engine.seed = static_cast<std::uint64_t>(1 + job.first + r);
    auto& curves = m.runs.emplace_back();
    const run::Outcome outcome = run_once({simulation, options, wanted, on_round, stop}, curves);
    m.outcomes.push_back(run::name_of(outcome));
    if (outcome == run::Outcome::interrupted) return std::nullopt;
    for (auto& [metric, curve] : curves) curve.resize(length, nothing);
    curves[Metric::epsilon] = epsilon;
    curves[Metric::epsilon_paper] = epsilon_paper;
  }
  return m;
}

void append(Measured& to, Measured more) {
  std::ranges::move(more.runs, std::back_inserter(to.runs));
  std::ranges::move(more.outcomes, std::back_inserter(to.outcomes));
  for (auto& [metric, values] : more.optimum) std::ranges::copy(values, std::back_inserter(to.optimum[metric]));
}

}  // namespace parley::experiment
