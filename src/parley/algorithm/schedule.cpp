#include "parley/algorithm/schedule.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "parley/base/error.h"
#include "parley/base/text.h"

namespace parley::algorithm {
namespace {

using privacy::RoundFacts;

// The share of a round's loss that covers the solver's inexactness (docs/privacy.md, "Approximate minima").
constexpr double inexact_share = 1e-4;

double of_node(const std::vector<double>& values, int node) {
  return values.size() == 1 ? values[0] : values[static_cast<std::size_t>(node)];
}

void check_list(const std::vector<double>& values, const std::string& name, int nodes) {
  if (values.size() == 1 || static_cast<int>(values.size()) == nodes) return;
  throw Error(
      {.what = name + " has " + std::to_string(values.size()) + " values for " + std::to_string(nodes) + " nodes",
       .allowed = "one value, or one per node",
       .where = "option --" + name});
}

void check_rules(const Options& o, const Algorithm& a, int nodes) {
  check_list(o.penalty, "penalty", nodes);
  check_list(o.penalty_growth, "penalty-growth", nodes);
  check_list(o.noise_rate, "noise-rate", nodes);
  check_list(o.noise_rate_growth, "noise-rate-growth", nodes);
  const bool grows = std::ranges::any_of(o.penalty_growth, [](double q) { return q != 1; });
  if (grows && !a.growing)
    throw Error({.what = a.name + " has a fixed penalty (" + a.source + ")",
                 .value = "penalty-growth " + number(o.penalty_growth[0]),
                 .allowed = "1",
                 .where = "option --penalty-growth",
                 .fix = a.recycled ? "use --algorithm mr-admm" : "use --algorithm m-admm or pp"});
  if (o.noise == "gaussian")
    throw Error(
        {.what = "Gaussian noise has an (epsilon, delta) guarantee, and this version accounts for pure epsilon only",
         .value = "gaussian",
         .allowed = "auto, none, gamma",
         .where = "option --noise",
         .fix = "use --noise gamma"});
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
                 .where = "option --loss-width"});
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

RoundFacts facts(const Schedule& s, double strong_convexity) {
  return {.gradient_weight = s.weight,
          .strong_convexity = strong_convexity,
          .gradient_bound = s.loss.gradient_bound(),
          .curvature_bound = s.loss.curvature_bound(),
          .logistic = s.loss.kind == problem::LossKind::logistic};
}

// A public grid far coarser than the rounding of doubles and far finer than the noise on the output (scale 1/rate):
// what the low bits of a noisy double would tell is gone (docs/privacy.md, "Floating point").
double grid_for(double output_rate) {
  return std::clamp(std::exp2(std::floor(std::log2(0x1p-8 / output_rate))), 0x1p-40, 0x1p-10);
}

// Privacy: the charge of one private round, objective noise by A2/A1 plus the approximate minimum, output noise by its
// sensitivity.
void price(PrivateRound& r, const Schedule& s, const RoundFacts& f, double rate) {
  using namespace privacy;
  if (s.place == Place::output) {
    r.output_rate = rate;
    r.charge = {.kind = "output-gamma", .epsilon = output_epsilon(f, rate, s.tolerance)};
  } else {
    r.objective_rate = s.algorithm.on_penalty ? rate / (2 * r.penalty * s.degree) : rate;
    const double exact = objective_epsilon(f, r.objective_rate);
    r.charge = {.kind = "objective-gamma", .epsilon = exact};
    if (s.tolerance > 0) {
      r.output_rate = inexact_rate(r.strong_convexity, s.tolerance, inexact_share * exact);
      UpwardSum sum;
      sum.add(exact);
      sum.add(inexact_epsilon(r.strong_convexity, s.tolerance, r.output_rate));
      r.charge.epsilon = sum.value();
    }
  }
  if (r.output_rate > 0) r.grid = grid_for(r.output_rate);
  r.charge.parameters = {{"gradient_weight", f.gradient_weight}, {"strong_convexity", f.strong_convexity},
                         {"gradient_bound", f.gradient_bound},   {"curvature_bound", f.curvature_bound},
                         {"logistic", f.logistic ? 1.0 : 0.0},   {"objective_rate", r.objective_rate},
                         {"output_rate", r.output_rate},         {"tolerance", s.tolerance}};
}

// The bound as the papers print it, with the reason where its assumptions fail.
void price_as_printed(Schedule& s, const Options& o) {
  const bool zkl18 = s.algorithm.on_penalty;
  s.paper_equation = zkl18 ? "ZKL18 (26)" : "ZKL20 (32)";
  const auto absent = [&](const std::string& why) { s.epsilon_paper_absent = why; };
  if (s.place == Place::output) return absent("the papers print no bound for noise on the output");
  if (s.loss.kind != problem::LossKind::logistic)
    return absent("Assumption 4 asks for a strictly convex, twice differentiable loss with |L'| <= 1");
  const PrivateRound& first = s.private_rounds.front();
  const double base = zkl18 ? first.dual_step : first.penalty;  // ZKL18 states its condition with θ
  if (const auto why = privacy::paper_condition_violated(facts(s, s.regularization + 2 * base * s.degree)))
    return absent(*why);
  if (zkl18 && std::ranges::any_of(s.private_rounds, [](const PrivateRound& r) { return r.penalty < r.dual_step; }))
    return absent("ZKL18 Theorem 4.1 asks for penalty >= dual step in every round");
  privacy::UpwardSum sum;
  for (std::size_t k = 0; k < s.private_rounds.size(); ++k) {
    const PrivateRound& r = s.private_rounds[k];
    const double rate =
        of_node(o.noise_rate, s.node) * std::pow(of_node(o.noise_rate_growth, s.node), static_cast<double>(k));
    const RoundFacts f = facts(s, r.strong_convexity);
    sum.add(zkl18 ? privacy::zkl18_epsilon(f, rate, r.penalty, s.degree) : privacy::zkl20_epsilon(f, rate));
  }
  s.epsilon_paper = sum.value();
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

Plan make_plan(const Options& o, const Setting& setting, bool exact) {
  const Algorithm& a = algorithm_named(o.algorithm);
  const int nodes = setting.nodes();
  check_rules(o, a, nodes);
  if (o.dual_step != "common" && o.dual_step != "penalty")
    check_list(std::vector<double>(split_list(o.dual_step).size()), "dual-step", nodes);
  const double all_records = std::accumulate(setting.records.begin(), setting.records.end(), 0.0);
  Plan plan;
  for (int i = 0; i < nodes; ++i) {
    const double records = setting.records[static_cast<std::size_t>(i)];
    Schedule s{.algorithm = a, .node = i, .degree = setting.degree[static_cast<std::size_t>(i)], .rounds = o.rounds};
    s.noise = o.noise == "none" || (o.noise == "auto" && !a.noisy) ? Noise::none : Noise::gamma;
    s.place = a.on_output || o.noise_on == "output" ? Place::output : Place::objective;
    s.loss = problem::loss_named(o.loss, o.loss_width);
    s.weight = o.weighting == "rows" ? o.loss_weight * nodes / all_records : o.loss_weight / records;
    s.regularization = o.regularization / nodes;
    s.tolerance = exact ? 0 : o.tolerance * s.weight;
    s.random_start = o.start == "random";
    s.release_bound = o.release_bound;
    privacy::UpwardSum sum;
    for (long k = 1; k <= private_rounds(a, o.rounds); ++k) {
      PrivateRound r{.penalty = penalty_at(o, i, k),
                     .dual_step = dual_step_at(o, a, nodes, i, k),
                     .damping = o.damping * std::pow(o.damping_growth, static_cast<double>(k - 1))};
      r.strong_convexity = s.regularization + 2 * r.penalty * s.degree;
      check_certifiable(s, r, k);
      if (s.noise == Noise::none)
        r.charge = {.kind = "no-noise", .epsilon = std::numeric_limits<double>::infinity()};
      else
        price(r, s, facts(s, r.strong_convexity),
              of_node(o.noise_rate, i) * std::pow(of_node(o.noise_rate_growth, i), static_cast<double>(k - 1)));
      sum.add(r.charge.epsilon);
      s.private_rounds.push_back(r);
    }
    s.epsilon = sum.value();
    s.theorem = s.place == Place::output ? "output sensitivity 2GC/(B kappa) (docs/privacy.md, theorem 3)"
                : s.loss.kind == problem::LossKind::logistic
                    ? "exact supremum for the logistic loss (docs/privacy.md, theorem 2)"
                    : "rank-one Jacobian bound (docs/privacy.md, theorem 1)";
    if (s.noise == Noise::none)
      s.epsilon_paper_absent = "no noise, no privacy";
    else
      price_as_printed(s, o);
    plan.nodes.push_back(std::move(s));
  }
  warn(plan, setting);
  return plan;
}

}  // namespace parley::algorithm
