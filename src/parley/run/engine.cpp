#include "parley/run/engine.h"

#include <algorithm>

#include "parley/algorithm/nodes.h"
#include "parley/base/digest.h"
#include "parley/base/error.h"
#include "parley/privacy/pair_noise.h"

namespace parley::run {

privacy::NoiseSource noise_of(const algorithm::Plan& plan, std::optional<std::uint64_t> seed, network::Ranks& ranks) {
  privacy::NoiseSource noise(seed);
  if (!plan.sharing().on()) return noise;
  const privacy::PairKey mine = noise.secret_for_pairs();
  const std::string common = from_hex(ranks.texts(hex(mine)).front()).value_or("");  // rank 0's
  privacy::PairKey secret{};
  expects(common.size() == secret.size(), "a secret of every rank");
  std::ranges::copy(common, secret.begin());
  noise.share(std::make_shared<privacy::SimulatedPairs>(plan.sharing().parties, secret));
  return noise;
}

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
