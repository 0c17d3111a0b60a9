#include "parley/study/agreement.h"

#include <memory>
#include <numeric>
#include <optional>

#include "parley/base/error.h"

namespace parley::study {

protocol::Agreement agreement(const algorithm::Plan& plan, Index dimension, network::Graph graph,
                              std::vector<std::string> parties, std::string run, std::string configuration,
                              std::string configuration_hash) {
  expects(static_cast<int>(parties.size()) == graph.nodes(), "a name for every node");
  const algorithm::Schedule& first = plan.nodes.front();
  const bool star = plan.star();
  const auto shared = std::make_shared<const algorithm::Plan>(plan);
  const int trainer = static_cast<int>(plan.nodes.size());
  std::vector<int> model_of(static_cast<std::size_t>(graph.nodes()));
  std::iota(model_of.begin(), model_of.end(), 0);
  if (star) model_of = {trainer};
  return {.run = std::move(run),
          .configuration = std::move(configuration),
          .configuration_hash = std::move(configuration_hash),
          .parties = std::move(parties),
          .graph = std::move(graph),
          .passed_on = plan.passed_on(),
          .shared_noise = plan.sharing().on(),
          .dimension = dimension,
          .largest_size = plan.largest_size(dimension),
          .rounds = static_cast<int>(first.rounds),
          .release_bound = first.release_bound,
          .size = [shared, dimension](int node, int round) { return shared->size(node, round, dimension); },
          .grid =
              [shared](int node, int round) {
                const auto at = static_cast<std::size_t>(node);
                return at < shared->nodes.size() ? shared->nodes[at].grid(round) : shared->nodes.front().finest_grid();
              },
          .model_of = std::move(model_of),
          .turn = first.alternates() ? 2 : 1,
          .trainer = star ? std::optional(trainer) : std::nullopt};
}

}  // namespace parley::study
