#include "parley/theory/run.h"

namespace parley::theory {

PublicRun run_of(const algorithm::Plan& plan, const algorithm::Setting& setting) {
  const auto nodes = static_cast<Index>(plan.nodes.size());
  PublicRun run{.penalty = std::vector<Vector>(plan.nodes.front().private_rounds.size(), Vector(nodes)),
                .dual_step = {},
                .least_curvature = Vector(nodes),
                .most_curvature = Vector(nodes)};
  run.dual_step = run.penalty;
  for (Index i = 0; i < nodes; ++i) {
    const algorithm::Schedule& s = plan.nodes[static_cast<std::size_t>(i)];
    run.least_curvature[i] = s.regularization;
    run.most_curvature[i] =
        s.weight * setting.records[static_cast<std::size_t>(i)] * s.loss.curvature_bound() + s.regularization;
    for (std::size_t k = 0; k < s.private_rounds.size(); ++k) {
      run.penalty[k][i] = s.private_rounds[k].penalty;
      run.dual_step[k][i] = s.private_rounds[k].dual_step;
    }
  }
  return run;
}

}  // namespace parley::theory
