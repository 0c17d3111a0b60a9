#include "parley/algorithm/schedule.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "parley/algorithm/planner.h"
#include "parley/algorithm/pricing.h"
#include "parley/base/error.h"
#include "parley/base/text.h"

namespace parley::algorithm {
namespace {

double of_node(const std::vector<double>& values, int node) {
  return values.size() == 1 ? values[0] : values[static_cast<std::size_t>(node)];
}

void check_list(const std::vector<double>& values, const std::string& name, int nodes) {
  if (values.size() == 1 || static_cast<int>(values.size()) == nodes) return;
  throw Error(
      {.what = name + " has " + std::to_string(values.size()) + " values for " + std::to_string(nodes) + " nodes",
       .allowed = "one value, or one per node",
       .where = "option --" + name,
       .fix = "give one value for all nodes, or one per node"});
}

void check_rules(const Options& o, const Algorithm& a, int nodes) {
  check_list(o.penalty, "penalty", nodes);
  check_list(o.penalty_growth, "penalty-growth", nodes);
  if (!o.noise_rate.empty()) check_list(o.noise_rate, "noise-rate", nodes);
  if (!o.noise_scale.empty()) check_list(o.noise_scale, "noise-scale", nodes);
  if (!o.epsilon.empty()) check_list(o.epsilon, "epsilon", nodes);
  check_list(o.noise_rate_growth, "noise-rate-growth", nodes);
  const bool grows = std::ranges::any_of(o.penalty_growth, [](double q) { return q != 1; });
  if (grows && !a.growing)
    throw Error({.what = a.name + " has a fixed penalty (" + a.source + ")",
                 .value = "penalty-growth " + number(o.penalty_growth[0]),
                 .allowed = "1",
                 .where = "option --penalty-growth",
                 .fix = a.recycled ? "use --algorithm mr-admm" : "use --algorithm m-admm or pp"});
  if (a.on_penalty && o.noise_on == "output")
    throw Error({.what = a.name + " puts its noise into the penalty term (" + a.source + ")",
                 .value = "output",
                 .allowed = "objective",
                 .where = "option --noise-on",
                 .fix = "use --algorithm m-admm --noise gamma --noise-on output"});
  if (o.loss == "huber" && o.loss_width > 2)
    throw Error({.what = "residuals of targets in [-1, 1] are clipped at loss-width",
                 .value = number(o.loss_width),
                 .allowed = "> 0 and <= 2",
                 .where = "option --loss-width",
                 .fix = "give --loss-width a value in that range"});
}

double penalty_at(const Options& o, int node, long k) {
  const long grown = o.penalty_growth_rounds > 0 ? std::min(k, o.penalty_growth_rounds) : k;
  return of_node(o.penalty, node) * std::pow(of_node(o.penalty_growth, node), static_cast<double>(grown - 1));
}

// θ(k): one number for all nodes by default, because Σ_i λ_i = 0 must be conserved for the limit to be the optimum
// (algorithms.md, (D)).
double dual_step_at(const Options& o, const Algorithm& a, int nodes, int node, long k) {
  if (o.dual_step == "penalty") return penalty_at(o, node, k);
  if (o.dual_step != "common") {
    const auto parts = split_list(o.dual_step);
    return parse_number(parts.size() == 1 ? parts[0] : parts[static_cast<std::size_t>(node)], "dual-step",
                        "option --dual-step");
  }
  double smallest = penalty_at(o, 0, a.first_dual_step ? 1 : k);
  for (int i = 1; i < nodes; ++i) smallest = std::min(smallest, penalty_at(o, i, a.first_dual_step ? 1 : k));
  return smallest;
}

// The rounding error of the gradient's largest public part, κ‖f‖ (here with ‖f‖ a tenth of the bound), must stay below
// the tolerance, or no minimum can be certified: refused here, before anything is spent, rather than by the certificate
// in the middle of a run.
void check_certifiable(const Schedule& s, const PrivateRound& r, long k) {
  const double rounding = 8 * 0x1p-53 * r.strong_convexity * 0.1 * s.release_bound;
  if (s.noise == Noise::none || s.tolerance == 0 || rounding <= s.tolerance) return;
  throw Error({.what = "the penalty of node " + std::to_string(s.node) + " is " + number(r.penalty) +
                       " in private round " + std::to_string(k) +
                       ": the local minimum could not be certified to the tolerance in double arithmetic",
               .value = "rounding error up to " + number(rounding),
               .allowed = "at most " + number(s.tolerance),
               .where = "option --penalty-growth",
               .fix = "end the growth with --penalty-growth-rounds, or lower --penalty"});
}

void warn(Plan& plan, const Setting& setting) {
  const auto differs = [&](auto of) {
    return std::ranges::any_of(plan.nodes, [&](const Schedule& s) { return of(s) != of(plan.nodes[0]); });
  };
  if (differs([](const Schedule& s) { return s.private_rounds.front().dual_step; }) ||
      differs([](const Schedule& s) { return s.private_rounds.back().dual_step; }))
    plan.warnings.push_back(
        "dual-step differs between nodes: the nodes then converge to the solution of sum_i grad O_i(f)/theta_i = 0 "
        "(while the steps "
        "keep their ratios), not to the optimum (docs/algorithms.md); --dual-step common avoids it");
  for (const Schedule& s : plan.nodes)
    if (s.delta >= 1 / setting.records[static_cast<std::size_t>(s.node)]) {
      plan.warnings.push_back("delta = " + number(s.delta) + " is not below 1/records of node " +
                              std::to_string(s.node) +
                              ": such a delta would allow publishing one record; lower --delta");
      break;
    }
  double growth = 1;
  for (const Schedule& s : plan.nodes)
    growth = std::max(growth, s.private_rounds.back().penalty / s.private_rounds.front().penalty);
  if (growth > 10)
    plan.warnings.push_back("the penalty grows " + std::to_string(static_cast<long>(growth)) +
                            "-fold: steps shrink with it and the run may freeze before "
                            "the optimum (docs/algorithms.md); set --penalty-growth-rounds");
  for (int i = 0; i < setting.nodes(); ++i) {
    const double c = plan.nodes[static_cast<std::size_t>(i)].weight * setting.records[static_cast<std::size_t>(i)];
    if (c > setting.records[static_cast<std::size_t>(i)]) {
      plan.warnings.push_back("loss-weight " + number(c) + " exceeds the records of node " + std::to_string(i) + " (" +
                              number(setting.records[static_cast<std::size_t>(i)]) +
                              "); the papers ask for C <= B_i, the proved bound does not need it");
      break;
    }
  }
}

}  // namespace

long private_rounds(const Algorithm& algorithm, long rounds) {
  return algorithm.recycled ? (rounds + 1) / 2 : rounds;
}

const PrivateRound& Schedule::private_round(int round) const {
  expects(round >= 1 && round <= rounds, "a round of the schedule");
  return private_rounds[static_cast<std::size_t>(algorithm.recycled ? (round + 1) / 2 : round) - 1];
}

double Plan::epsilon() const {
  double most = 0;
  for (const Schedule& s : nodes) most = std::max(most, s.epsilon);
  return most;
}

std::optional<double> Plan::epsilon_paper() const {
  double most = 0;
  for (const Schedule& s : nodes) {
    if (!s.epsilon_paper) return std::nullopt;
    most = std::max(most, *s.epsilon_paper);
  }
  return most;
}

std::string Plan::epsilon_paper_absent() const {
  for (const Schedule& s : nodes)
    if (!s.epsilon_paper) return "node " + std::to_string(s.node) + ": " + s.epsilon_paper_absent;
  return "";
}

bool Plan::verified_only() const {
  return std::ranges::any_of(nodes, [](const Schedule& s) { return s.verified_only; });
}

namespace {

std::string theorem_of(const Schedule& s) {
  const bool output = s.place == Place::output, logistic = s.loss.kind == problem::LossKind::logistic;
  if (s.noise == Noise::gaussian) {
    if (s.verified_only)
      return "numerically verified bound for sigma/kappa > 1.75, not a proof (docs/privacy-gaussian.md)";
    return output ? "Gaussian DP of the output (docs/privacy.md, theorem 6)"
                  : "Gaussian objective perturbation (docs/privacy-gaussian.md, theorem G and corollary 2)";
  }
  const std::string composed = s.delta > 0 ? "; Kairouz-Oh-Viswanath composition" : "";
  if (output) return "output sensitivity 2GC/(B kappa) (docs/privacy.md, theorem 3)" + composed;
  return (logistic ? "exact supremum for the logistic loss (docs/privacy.md, theorem 2)"
                   : "rank-one Jacobian bound (docs/privacy.md, theorem 1)") +
         composed;
}

// The noise of every private round, as given.
std::vector<double> given_levels(const Schedule& s, const Options& o) {
  std::vector<double> levels;
  for (std::size_t k = 0; k < s.private_rounds.size(); ++k)
    levels.push_back(s.noise == Noise::gaussian
                         ? of_node(o.noise_scale, s.node)
                         : of_node(o.noise_rate, s.node) *
                               std::pow(of_node(o.noise_rate_growth, s.node), static_cast<double>(k)));
  return levels;
}

void price_rounds(Schedule& s, const std::vector<double>& levels) {
  std::vector<privacy::Charge> charges;
  s.verified_only = false;
  for (std::size_t k = 0; k < levels.size(); ++k) {
    price(s.private_rounds[k], s, levels[k]);
    charges.push_back(s.private_rounds[k].charge);
  }
  s.epsilon = whole_run_epsilon(charges, s.delta);
}

void price_all(Schedule& s, const Options& o) {
  std::vector<double> levels;
  if (s.noise == Noise::none) {
    for (PrivateRound& r : s.private_rounds)
      r.charge = {.kind = "no-noise", .epsilon = std::numeric_limits<double>::infinity()};
    s.epsilon = std::numeric_limits<double>::infinity();
  } else if (o.epsilon.empty()) {
    price_rounds(s, levels = given_levels(s, o));
  } else {
    // Unequal pure rounds are composed on a grid that rounds up, by up to 5e-5 of the total: then a little less is
    // asked for.
    const double target = of_node(o.epsilon, s.node);
    for (const double less : {0.0, 1e-9, 1e-5, 1e-4, 3e-4}) {
      price_rounds(s, levels = calibrate(s, target * (1 - less)));
      if (s.epsilon <= target) break;
    }
    expects(s.epsilon <= target, "a calibrated run stays within its budget");
  }
  price_as_printed(s, levels);
}

}  // namespace

Plan make_plan(const Options& given, const Setting& setting, bool exact) {
  const int nodes = setting.nodes();
  const Options o = fill_in(given, setting);
  const Algorithm& a = algorithm_named(o.algorithm);
  check_rules(o, a, nodes);
  if (o.dual_step != "common" && o.dual_step != "penalty")
    check_list(std::vector<double>(split_list(o.dual_step).size()), "dual-step", nodes);
  Plan plan{.options = o, .average = o.average == "yes"};
  for (int i = 0; i < nodes; ++i) {
    Schedule s{.algorithm = a, .node = i, .degree = setting.degree[static_cast<std::size_t>(i)], .rounds = o.rounds};
    s.noise = o.noise == "none" ? Noise::none : o.noise == "gamma" ? Noise::gamma : Noise::gaussian;
    s.place = o.noise_on == "output" ? Place::output : Place::objective;
    s.bound = o.bound == "verified" ? privacy::Bound::verified : privacy::Bound::proved;
    s.delta = s.noise == Noise::none ? 0 : *o.delta;
    s.loss = problem::loss_named(o.loss, o.loss_width);
    s.weight = record_weight(o, setting, i);
    s.regularization = o.regularization / nodes;
    s.tolerance = exact ? 0 : o.tolerance * s.weight;
    s.random_start = o.start == "random";
    s.release_bound = o.release_bound;
    for (long k = 1; k <= private_rounds(a, o.rounds); ++k) {
      PrivateRound r{.penalty = penalty_at(o, i, k),
                     .dual_step = dual_step_at(o, a, nodes, i, k),
                     .damping = *o.damping * std::pow(o.damping_growth, static_cast<double>(k - 1))};
      r.strong_convexity = s.regularization + 2 * r.penalty * s.degree;
      check_certifiable(s, r, k);
      s.private_rounds.push_back(r);
    }
    price_all(s, o);
    s.theorem = theorem_of(s);
    plan.nodes.push_back(std::move(s));
  }
  warn(plan, setting);
  return plan;
}

}  // namespace parley::algorithm
