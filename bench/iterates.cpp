// Where iterates are released, how much of a party's noise may be shared? Points of test error above the optimum without
// privacy for dp-admm and linear-admm on census, epsilon = 0.5 against the assumed colluders: each party's own noise, and
// noise that cancels with s² + h p² = m v for the planner's m = 4 and for m = 100 (privacy/shared_noise.h). Where m is
// changed after the plan, the noise against the colluders, and so epsilon, stays the same.
#include "parley/run/iterates.h"

#include <algorithm>
#include <cmath>

#include "parley/ledger/ledger.h"
#include "parley/privacy/shared_noise.h"
#include "parley/problem/metrics.h"
#include "parley/run/driver.h"
#include "parley/run/engine.h"
#include "program.h"

namespace parley::bench {
namespace {

constexpr int splits = 5, runs = 2;
constexpr double epsilon = 0.5, delta = 1e-5;

struct Sharing {
  const char* name;
  double m;  // 0: nothing is shared
};
constexpr Sharing kinds[] = {{"own noise", 0}, {"m = 4", 4}, {"m = 100", 100}};

struct Case {
  std::string algorithm;
  long parties;
  int colluders;
};

run::TrainOptions options_of(const Case& c, const Sharing& kind, long split) {
  run::TrainOptions o;
  o.data.nodes = c.parties;
  o.data.split_seed = split;
  o.algorithm.algorithm = c.algorithm;
  o.algorithm.epsilon = {epsilon};
  o.algorithm.delta = delta;
  if (kind.m > 0) o.algorithm.colluders = static_cast<std::uint64_t>(c.colluders);
  return o;
}

double test_error(const run::Simulation& s, network::Ranks& ranks) {
  run::Engine engine = run::engine_of(s, ranks);
  run::Iterates iterates(s.plan, engine.nodes.size(), s.dimension(), ranks);
  const privacy::NoiseSource noise = run::noise_of(s.plan, std::nullopt, ranks);
  ledger::Ledger ledger(s.graph.nodes(), true);
  run::Phases phases;
  const run::Outcome outcome = run::drive({.nodes = engine.nodes,
                                           .noise = &noise,
                                           .ledger = &ledger,
                                           .transport = engine.transport.get(),
                                           .threads = 1,
                                           .release_bound = s.plan.options.release_bound,
                                           .watch =
                                               [&](int round, std::span<const privacy::Paid> /*paid*/) {
                                                 iterates.add(round, engine.nodes);
                                                 return true;
                                               }},
                                          phases);
  if (outcome != run::Outcome::completed) throw std::runtime_error("a run ended as " + run::name_of(outcome));
  return problem::test_errors(s.holdings.test, s.problems[0].loss, iterates.model()) / s.test_rows;
}

json measured(const Case& c, const Sharing& kind, network::Ranks& ranks) {
  std::vector<double> points;  // of each split, the mean of its runs
  for (long split = 1; split <= splits; ++split) {
    run::Simulation s = run::prepare(options_of(c, kind, split), ranks);
    for (algorithm::Schedule& node : s.plan.nodes)
      if (kind.m > 0) node.sharing.noise = privacy::shared_noise_for(static_cast<int>(c.parties), c.colluders, kind.m);
    double mean = 0;
    for (int run = 0; run < runs; ++run) mean += test_error(s, ranks) / runs;
    points.push_back(100 * (mean - s.test_error_nonprivate));
  }
  double mean = 0;
  for (const double p : points) mean += p / splits;
  const auto [low, high] = std::ranges::minmax(points);
  std::printf("  %-12s %3ld parties, %d colluders  %-10s %6.2f (%.2f to %.2f)\n", c.algorithm.c_str(), c.parties,
              c.colluders, kind.name, mean, low, high);
  return {{"algorithm", c.algorithm},
          {"parties", c.parties},
          {"colluders", c.colluders},
          {"sharing", kind.name},
          {"m", kind.m},
          {"mean", mean},
          {"low", low},
          {"high", high}};
}

json measure() {
  const auto ranks = network::make_ranks("in-process");
  std::printf("census, epsilon %g, %d splits, %d runs each: points above the optimum (range of the splits)\n", epsilon,
              splits, runs);
  json found = json::array();
  for (const char* algorithm : {"dp-admm", "linear-admm"})
    for (const auto& [parties, colluders] : {std::pair{5L, 1}, {20L, 5}})
      for (const Sharing& kind : kinds) found.push_back(measured({algorithm, parties, colluders}, kind, *ranks));
  return {{"epsilon", epsilon}, {"delta", delta}, {"splits", splits}, {"runs", runs}, {"cells", found}};
}

}  // namespace
}  // namespace parley::bench

int main(int argc, char** argv) {
  return parley::bench::program(argc, argv, "iterates", parley::bench::measure);
}
