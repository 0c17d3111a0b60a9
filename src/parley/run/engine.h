// The nodes of a simulation that this process runs, and what carries their messages.
#pragma once
#include <memory>
#include <vector>

#include "parley/algorithm/node.h"
#include "parley/network/ranks.h"
#include "parley/network/transport.h"
#include "parley/run/simulation.h"

namespace parley::run {

struct Engine {
  std::vector<std::unique_ptr<algorithm::Node>> nodes;  // a trainer is the last
  std::unique_ptr<network::Transport> transport;
};
Engine engine_of(const Simulation& simulation, network::Ranks& ranks);  // which must outlive it

}  // namespace parley::run
