#include "parley/theory/verdict.h"

#include <fmt/core.h>

#include "parley/theory/modified.h"
#include "parley/theory/recycled.h"

namespace parley::theory {
namespace {

constexpr int most_nodes = 120;  // the search for L and μ takes minutes beyond

std::string recycled_verdict(const network::Graph& graph, const PublicRun& run, double damping) {
  const std::string theorem = "ZKL20 Theorem 1 ";
  for (std::size_t k = 0; k < run.penalty.size(); ++k)
    if ((run.penalty[k] - run.dual_step[k]).cwiseAbs().maxCoeff() > 1e-12 * run.penalty[k].maxCoeff())
      return theorem + "does not apply: it asks for dual step = penalty at every node";
  if (graph.nodes() > most_nodes)
    return theorem + "was not checked: more than " + std::to_string(most_nodes) + " nodes";
  const RecycledConditions conditions(graph, run);
  if (conditions.constants(damping)) return theorem + "holds";
  const auto smallest = conditions.smallest_damping();
  return theorem + "does not cover damping " + fmt::format("{:.4g}", damping) +
         (smallest.damping ? "; it covers " + fmt::format("{:.4g}", *smallest.damping) + " and more"
                           : " or any other: " + smallest.why_none) +
         "; measured convergence: docs/results/results.md";
}

}  // namespace

std::string convergence_verdict(const network::Graph& graph, const algorithm::Plan& plan,
                                const algorithm::Setting& setting) {
  const auto& first = plan.nodes.front();
  const auto& a = first.algorithm;
  if (a.curved) return "each step minimises a bound of the objective (docs/check/newton.md)";
  if (a.sums) return "no theorem covers gradient descent with momentum on every convex loss";
  if (a.star && !a.linear) return "consensus ADMM converges for every penalty > 0 (Boyd et al. 2011, 3.2.1)";
  if (a.star && plan.options.step_size == algorithm::StepSize::convex)
    return "HHCG20 Theorem 3's step sizes (corrected in docs/check/theory-star.md)";
  if (a.star && plan.options.step_size == algorithm::StepSize::smooth)
    return "HHCG20 Theorem 4's step sizes (corrected in docs/check/theory-star.md)";
  if (a.linear) return "no theorem of the papers covers it";
  const PublicRun run = run_of(plan, setting);
  if (a.recycled) return recycled_verdict(graph, run, first.private_rounds.front().damping);
  if (const auto v = order_violated(run))
    return "ZKL18 Theorem 3.1 does not cover this setting: node " + std::to_string(v->node) + ", private round " +
           std::to_string(v->round) + ": " + v->what;
  const RoundRate start = rate(graph, run, 1), end = rate(graph, run, static_cast<long>(run.penalty.size()));
  return start.corrected && end.corrected
             ? "ZKL18 Theorem 3.1 holds"
             : "ZKL18 Theorem 3.1's condition holds, its proof does not cover penalties that differ between nodes";
}

}  // namespace parley::theory
