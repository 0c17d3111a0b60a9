#include "parley/run/engine.h"

#include "parley/algorithm/nodes.h"

namespace parley::run {

Engine engine_of(const Simulation& s, network::Ranks& ranks) {
  Engine engine;
  for (std::size_t i = 0; i < s.problems.size(); ++i)
    engine.nodes.push_back(algorithm::make_node(s.problems[i], s.plan.nodes[i + static_cast<std::size_t>(s.first())]));
  if (s.hosts_trainer()) engine.nodes.push_back(algorithm::make_trainer(s.plan, s.dimension()));
  engine.transport = ranks.transport(s.exchange_graph(), s.blocks(),
                                     [&s](int node, int round) { return s.plan.size(node, round, s.dimension()); });
  return engine;
}

}  // namespace parley::run
