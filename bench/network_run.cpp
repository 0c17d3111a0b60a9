#include "network_run.h"

#include <stdexcept>

#include "parley/algorithm/nodes.h"
#include "rows.h"

namespace parley::bench {

algorithm::Options paper_setting() {
  algorithm::Options o;
  o.algorithm = "mr-admm";
  o.rounds = rounds;
  o.loss_weight = loss_weight;
  o.regularization = regularization;
  return o;
}

algorithm::Options planned() {
  algorithm::Options o = paper_setting();
  o.epsilon = {1};
  o.delta = 1e-5;
  return o;
}

algorithm::Options planned_newton() {
  algorithm::Options o;
  o.algorithm = "newton";
  o.epsilon = {1};
  o.delta = 1e-5;
  return o;
}

std::vector<data::Rows> deal(const data::Rows& all, int parts) {
  std::vector<std::vector<std::size_t>> which(static_cast<std::size_t>(parts));
  for (std::size_t n = 0; n < all.count(); ++n) which[n % which.size()].push_back(n);
  std::vector<data::Rows> dealt;
  for (const auto& w : which) dealt.push_back(all.select(w));
  return dealt;
}

Network::Network(std::vector<data::Rows> rows, const algorithm::Options& options)
    : rows_(std::move(rows)),
      graph_(network::make_graph({.graph = algorithm::algorithm_named(options.algorithm).sums ? "complete" : "ring"},
                                 static_cast<int>(rows_.size()))) {
  algorithm::Setting setting{.degree = graph_.degrees(), .features = static_cast<long>(rows_.front().features)};
  for (const data::Rows& r : rows_) setting.records.push_back(static_cast<double>(r.count()));
  const Stopwatch watch;
  plan_ = algorithm::make_plan(options, setting);
  seconds_plan_ = watch.read().cpu;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const algorithm::Schedule& s = plan_.nodes[i];
    problems_.push_back(
        {.rows = &rows_[i], .loss = s.loss, .weight = s.weight, .regularization = s.regularization, .l1 = s.l1});
  }
}

Network::Cost Network::run(int threads) const {
  const privacy::NoiseSource noise(1);
  ledger::Ledger ledger(graph_.nodes(), noise.is_private());
  network::InProcess transport(graph_);
  std::vector<std::unique_ptr<algorithm::Node>> machines;
  for (std::size_t i = 0; i < problems_.size(); ++i)
    machines.push_back(algorithm::make_node(problems_[i], plan_.nodes[i]));
  Cost cost;
  const problem::Passes before = problem::passes_so_far();
  const Stopwatch watch(Stopwatch::Of::process);
  const run::Outcome outcome =
      run::drive({.nodes = machines,
                  .noise = &noise,
                  .ledger = &ledger,
                  .transport = &transport,
                  .threads = threads,
                  .release_bound = plan_.options.release_bound,
                  .watch = [](int /*round*/, std::span<const privacy::Paid> /*paid*/) { return true; }},
                 cost.phases);
  cost.seconds = watch.read();
  const problem::Passes after = problem::passes_so_far();
  cost.passes = {.count = after.count - before.count, .bytes = after.bytes - before.bytes};
  if (outcome != run::Outcome::completed) throw std::runtime_error("a run ended as " + run::name_of(outcome));
  return cost;
}

}  // namespace parley::bench
