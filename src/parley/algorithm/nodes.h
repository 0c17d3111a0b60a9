// The nodes that an engine runs, made from the public plan.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "parley/algorithm/node.h"
#include "parley/algorithm/schedule.h"
#include "parley/algorithm/start.h"
#include "parley/problem/objective.h"

namespace parley::algorithm {

// Who holds rows: a peer or a data provider. Privacy: rows that break the proofs' assumptions (‖x‖ ≤ 1, labels) never
// get into a node.
std::unique_ptr<Node> make_node(const problem::Problem& problem, const Schedule& schedule, const Start& start = {});

// The trainer of a star, node number plan.nodes.size(); it holds none.
std::unique_ptr<Node> make_trainer(const Plan& plan, Index dimension, const Start& start = {});

}  // namespace parley::algorithm
