// What the public plan says about messages: the protocol knows no algorithm, and learns from here how many rounds there
// are, who speaks in which, how many numbers a value has, and to which grid they are rounded.
#pragma once
#include <string>
#include <vector>

#include "parley/algorithm/schedule.h"
#include "parley/network/graph.h"
#include "parley/protocol/agreement.h"

namespace parley::study {

// configuration: its canonical text and hash, as all parties have them.
protocol::Agreement agreement(const algorithm::Plan& plan, Index dimension, network::Graph graph,
                              std::vector<std::string> parties, std::string run, std::string configuration,
                              std::string configuration_hash);

}  // namespace parley::study
