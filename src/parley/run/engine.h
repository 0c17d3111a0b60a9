// The nodes of a simulation that this process runs, and what carries their messages.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "parley/algorithm/node.h"
#include "parley/network/ranks.h"
#include "parley/network/transport.h"
#include "parley/privacy/random.h"
#include "parley/run/simulation.h"

namespace parley::run {

struct Engine {
  std::vector<std::unique_ptr<algorithm::Node>> nodes;  // a trainer is the last
  std::unique_ptr<network::Transport> transport;
};
// Noise of all nodes; with a seed the same every time. Where it cancels between parties, the simulation makes their keys.
privacy::NoiseSource noise_of(const algorithm::Plan& plan, std::optional<std::uint64_t> seed, network::Ranks& ranks);

Engine engine_of(const Simulation& simulation, network::Ranks& ranks);  // which must outlive it

}  // namespace parley::run
