#include <algorithm>

#include "parley/algorithm/rules.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/problem/proximal_newton.h"

namespace parley::algorithm {

void warn(Plan& plan, const Setting& setting) {
  const auto differs = [&](auto of) {
    return std::ranges::any_of(plan.nodes, [&](const Schedule& s) { return of(s) != of(plan.nodes[0]); });
  };
  if (differs([](const Schedule& s) { return s.private_rounds.front().dual_step; }) ||
      differs([](const Schedule& s) { return s.private_rounds.back().dual_step; }))
    plan.warnings.push_back(
        "dual-step differs between nodes: the nodes then converge to the solution of sum_i grad O_i(f)/theta_i = 0 "
        "(while the steps "
        "keep their ratios), not to the optimum (docs/check/algorithms-rounds.md); --dual-step common avoids it");
  for (const Schedule& s : plan.nodes)
    if (s.delta >= 1 / setting.records[static_cast<std::size_t>(s.node)]) {
      plan.warnings.push_back("delta = " + number(s.delta) + " is not below 1/records of node " +
                              std::to_string(s.node) +
                              ": publishing a record outright would be allowed; lower --delta");
      break;
    }
  double growth = 1;
  for (const Schedule& s : plan.nodes)
    growth = std::max(growth, s.private_rounds.back().penalty / s.private_rounds.front().penalty);
  if (growth > 10)
    plan.warnings.push_back("the penalty grows " + std::to_string(static_cast<long>(growth)) +
                            "-fold: steps shrink with it and the run may freeze before "
                            "the optimum (docs/check/algorithms-rounds.md); set --penalty-growth-rounds");
}

void check_doable(const Plan& plan, const Setting& setting) {
  constexpr double largest = 1e100;
  for (const Schedule& s : plan.nodes) {
    const auto weights = static_cast<Index>(setting.features) * s.loss.scores();
    if (s.l1 > 0 && !s.algorithm.linear && weights > problem::most_l1_weights)
      throw Error({.what = "an exact minimum with an l1 term is not made for so many weights",
                   .value = std::to_string(weights),
                   .allowed = "at most " + std::to_string(problem::most_l1_weights),
                   .where = "option --regularizer",
                   .fix = "use fewer features, --regularizer l2, or --algorithm dp-admm or linear-admm"});
    for (const PrivateRound& r : s.private_rounds)
      for (const double size :
           {r.objective_scale, r.output_scale, r.gradient_scale, r.objective_rate > 0 ? 1 / r.objective_rate : 0,
            r.output_rate > 0 ? 1 / r.output_rate : 0, r.gradient_rate > 0 ? 1 / r.gradient_rate : 0})
        if (!(size <= largest))
          throw Error(
              {.what = "noise of this size is beyond what can be drawn",
               .value = number(size),
               .allowed = "a scale of at most " + number(largest),
               .where = plan.options.epsilon.empty() ? "option --noise-scale or --noise-rate" : "option --epsilon",
               .fix = "ask for less noise: no model could be learnt from this"});
  }
}

}  // namespace parley::algorithm
