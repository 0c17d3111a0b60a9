#include "parley/algorithm/nodes.h"

#include "parley/algorithm/peer_node.h"
#include "parley/algorithm/star_node.h"

namespace parley::algorithm {

std::unique_ptr<Node> make_node(const problem::Problem& problem, const Schedule& schedule) {
  problem::check_rows(*problem.rows, problem.loss);
  if (schedule.algorithm.star) return std::make_unique<ProviderNode>(problem, schedule);
  return std::make_unique<PeerNode>(problem, schedule);
}

std::unique_ptr<Node> make_trainer(const Plan& plan, Index dimension) {
  return std::make_unique<TrainerNode>(plan, dimension);
}

}  // namespace parley::algorithm
