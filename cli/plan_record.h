// A plan as a record of a run that has not begun, for 'parley report plan.json': what a plan without a study can say.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "parley/algorithm/planner.h"
#include "parley/network/graph.h"

namespace parley::cli {

nlohmann::json planned_record(const algorithm::Plan& plan, const algorithm::Selected& selected,
                              const network::Graph& graph, const algorithm::Setting& setting,
                              const network::GraphOptions& asked);

}  // namespace parley::cli
