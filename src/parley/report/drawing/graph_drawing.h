// The graph of a run, drawn: each node with its name, its ε and how far it is from the model.
#pragma once
#include <string>

#include "parley/report/group.h"

namespace parley::report {

inline constexpr std::size_t most_drawn = 200;  // nodes; above, nothing could be read

std::string graph_svg(const Group& group);  // of the first run; distances are means over runs. Stands alone
std::string nodes_csv(const Group& group);  // node,name,records,neighbours,epsilon (its mark),distance
std::string edges_csv(const Group& group);  // node,node

std::vector<double> mean_distances(const Group& group);

}  // namespace parley::report
