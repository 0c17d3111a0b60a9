#include "parley/algorithm/nodes.h"

#include "parley/algorithm/newton/newton_node.h"
#include "parley/algorithm/peer_node.h"
#include "parley/algorithm/star_node.h"

namespace parley::algorithm {

std::unique_ptr<Node> make_node(const problem::Problem& problem, const Schedule& schedule, const Start& start) {
  problem::check_rows(*problem.rows, problem.loss);
  if (schedule.algorithm.star) return std::make_unique<ProviderNode>(problem, schedule, start);
  if (schedule.algorithm.sums) return std::make_unique<newton::NewtonNode>(problem, schedule, start);
  return std::make_unique<PeerNode>(problem, schedule, start);
}

std::unique_ptr<Node> make_trainer(const Plan& plan, Index dimension, const Start& start) {
  return std::make_unique<TrainerNode>(plan, dimension, start);
}

}  // namespace parley::algorithm
