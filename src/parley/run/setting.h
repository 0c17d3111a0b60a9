// What is public about the nodes of a run: the graph they sit on, their sizes, and whether the loss fits the label.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "parley/algorithm/schedule.h"
#include "parley/base/error.h"
#include "parley/network/graph.h"

namespace parley::run {

// What "auto" stands for.
std::string graph_shape(const network::GraphOptions& options, const std::string& algorithm);
// The graph of peers, or for the star family the trainer with its providers; Error when --graph contradicts that.
network::Graph graph_for(const network::GraphOptions& options, const std::string& algorithm, int nodes);
// What is public about the nodes on it; records: one for all, or one per node.
algorithm::Setting setting_on(const network::Graph& graph, const std::vector<double>& records, int nodes);

// Why the loss does not fit the label, if so; classes: 0 for two.
std::optional<Error::Fields> loss_mismatch(const Choice<problem::LossKind>& loss, bool regression, std::size_t classes);

}  // namespace parley::run
