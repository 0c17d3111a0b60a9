// Which convergence theorem covers a planned run, in one sentence. All are about runs without noise, and sufficient
// only; `parley check` prints the numbers behind it.
#pragma once
#include <string>

#include "parley/algorithm/schedule.h"
#include "parley/network/graph.h"

namespace parley::theory {

std::string convergence_verdict(const network::Graph& graph, const algorithm::Plan& plan,
                                const algorithm::Setting& setting);

}  // namespace parley::theory
