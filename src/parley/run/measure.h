// What a simulation measures, on everyone's rows and over all ranks: sums are reduced in the order of nodes, rows stay
// where they are.
#pragma once
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "parley/run/iterates.h"
#include "parley/run/simulate.h"

namespace parley::run {

nlohmann::json round_json(int round, const RoundMetrics& m, const Simulation& simulation);

// One pass over all rows, by node on all cores. node_loss: of this process's nodes.
void measure(const Simulation& simulation, const Iterates& iterates, int threads, network::Ranks& ranks,
             RoundMetrics& m, std::vector<double>& node_loss);

// (ε, δ) of what a node has released in this planned run, all of it or through a round (the ledger of a resumed run has
// later ones).
double spent_epsilon(const ledger::Ledger& ledger, const algorithm::Plan& plan, int node, privacy::Against whom,
                     std::size_t through = std::numeric_limits<std::size_t>::max());

// Of the nodes of all ranks.
std::vector<NodeSummary> node_summaries(const Simulation& simulation, const ledger::Ledger& ledger,
                                        const Iterates& iterates, const std::vector<double>& node_loss, bool whole,
                                        network::Ranks& ranks);

}  // namespace parley::run
