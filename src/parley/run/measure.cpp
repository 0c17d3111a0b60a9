#include "parley/run/measure.h"

#include <array>
#include <nlohmann/json.hpp>
#include <span>

#include "parley/algorithm/pricing.h"
#include "parley/base/parallel.h"
#include "parley/problem/metrics.h"
#include "parley/record/round.h"

namespace parley::run {

using nlohmann::json;

json round_json(int round, const RoundMetrics& m, const Simulation& s) {
  const record::Turn turn{
      .round = round, .touches_data = s.plan.nodes.front().touches_data(round), .star = s.plan.star()};
  json line = record::round_line(round, record::kind_of(turn), m.epsilon, s.not_private.empty(), s.adjacency);
  if (s.plan.sharing().on()) line["epsilon_all_others"] = m.epsilon_all_others;
  line["disagreement"] = m.disagreement;
  json measured = json::object();
  if (m.train_loss) measured["train_loss"] = *m.train_loss;
  if (m.test_error) measured["test_error"] = *m.test_error;
  if (!measured.empty()) line["private"] = measured;
  return line;
}

void measure(const Simulation& s, const Iterates& iterates, int threads, network::Ranks& ranks, RoundMetrics& m,
             std::vector<double>& node_loss) {
  node_loss.assign(s.problems.size(), 0);
  parallel_for(static_cast<int>(s.problems.size()), threads, [&](int i) {
    const auto at = static_cast<std::size_t>(i);
    const problem::Problem& p = s.problems[at];
    node_loss[at] = problem::mean_loss(*p.rows, p.loss, iterates.classifier(at));
  });
  const problem::Loss& loss = s.problems[0].loss;
  const double errors = problem::test_errors(s.holdings.test, loss, iterates.model());
  std::array<double, 2> sums{};
  ranks.in_turn(sums, [&] {
    for (const double l : node_loss) sums[0] += l;
    sums[1] += errors;
  });
  m.train_loss = sums[0] / s.parties();
  if (s.test_rows > 0) m.test_error = problem::test_error_of(sums[1], s.test_rows, loss, s.label_unit);
}

double spent_epsilon(const ledger::Ledger& ledger, const algorithm::Plan& plan, int node, privacy::Against whom,
                     std::size_t through) {
  std::span<const privacy::Charge> charges = ledger.charges(node);
  if (through < charges.size()) charges = charges.first(through + 1);
  return algorithm::whole_run_epsilon(charges, plan.nodes[static_cast<std::size_t>(node)].delta, whom);
}

std::vector<NodeSummary> node_summaries(const Simulation& simulation, const ledger::Ledger& ledger,
                                        const Iterates& iterates, const std::vector<double>& node_loss, bool whole,
                                        network::Ranks& ranks) {
  const auto parties = static_cast<std::size_t>(simulation.parties());
  std::vector<double> facts(4 * parties);  // ε spent, against all others, loss, distance
  for (std::size_t i = 0; i < simulation.problems.size(); ++i) {
    const int node = simulation.first() + static_cast<int>(i);
    const algorithm::Schedule& s = simulation.plan.nodes[static_cast<std::size_t>(node)];
    double* const at = facts.data() + 4 * static_cast<std::size_t>(node);
    // Ended early on released values: the rounds done, for pure ε; at δ > 0 composition covers the planned run only.
    const bool counted = whole || s.delta == 0;
    at[0] = counted ? spent_epsilon(ledger, simulation.plan, node, privacy::Against::colluders) : s.epsilon;
    at[1] = counted ? spent_epsilon(ledger, simulation.plan, node, privacy::Against::anybody) : s.epsilon_all_others;
    at[2] = node_loss[i];
    at[3] = iterates.distance(i);
  }
  ranks.sum(facts);
  std::vector<NodeSummary> nodes;
  for (std::size_t i = 0; i < parties; ++i) {
    const algorithm::Schedule& s = simulation.plan.nodes[i];
    nodes.push_back({.node = s.node,
                     .degree = simulation.graph.degree(s.node),
                     .records = static_cast<std::size_t>(simulation.holdings.records[i]),
                     .epsilon = facts[4 * i],
                     .epsilon_all_others = facts[4 * i + 1],
                     .epsilon_paper = whole ? s.epsilon_paper : std::nullopt,
                     .train_loss = facts[4 * i + 2],
                     .distance = facts[4 * i + 3]});
  }
  return nodes;
}

}  // namespace parley::run
