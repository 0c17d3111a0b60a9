#include "parley/algorithm/rules.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/problem/proximal_newton.h"
#include "parley/problem/reach.h"

namespace parley::algorithm {

using problem::LossKind;

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

namespace {

// Of the shares of all classes; one number is that of the positive of two.
std::vector<double> shares_of_classes(const Options& o, std::size_t classes) {
  const auto refuse = [&](const std::string& what, const std::string& value, const std::string& allowed,
                          const std::string& fix) {
    throw Error({.what = what, .value = value, .allowed = allowed, .where = "option --class-share", .fix = fix});
  };
  std::vector<double> shares = o.class_share;
  if (shares.empty())
    refuse("balanced weights need the share of the classes, and how many records a class has is private", "none",
           "a share that is publicly known", "give --class-share, or the weights themselves: --class-weight 1,4");
  if (classes == 2 && shares.size() == 1) shares.insert(shares.begin(), 1 - shares[0]);
  if (shares.size() != classes)
    refuse("there are " + std::to_string(classes) + " classes", std::to_string(o.class_share.size()) + " shares",
           classes == 2 ? "the share of the positive class" : "a share for every class",
           "give one share for each, in the schema's order");
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  if (std::abs(sum - 1) > 1e-3)
    refuse("the shares of all classes add up to 1", number(sum), "1, to within 0.001", "give the share of each class");
  return shares;
}

}  // namespace

std::vector<double> class_weights(const Options& o, int classes) {
  const ClassWeight how = o.class_weight;
  if (how == ClassWeight::none) return {};
  const std::size_t count = o.loss == LossKind::softmax ? static_cast<std::size_t>(classes) : 2;
  std::vector<double> weights;
  if (how == ClassWeight::balanced) {
    for (const double share : shares_of_classes(o, count)) weights.push_back(1 / (static_cast<double>(count) * share));
    return weights;
  }
  for (const std::string& part : split_list(o.class_weight.text))
    weights.push_back(parse_number(part, "class-weight", "option --class-weight"));
  if (weights.size() != count)
    throw Error({.what = "every class has a weight",
                 .value = std::to_string(weights.size()) + " numbers for " + std::to_string(count) + " classes",
                 .allowed = count == 2 ? "the weight of the negative and of the positive class, such as 1,4"
                                       : "one number for each class, in the schema's order",
                 .where = "option --class-weight",
                 .fix = "give one number for each class, or balanced"});
  return weights;
}

void check_class_weight(const Options& o, int classes) {
  const ClassWeight how = o.class_weight;
  if (how != ClassWeight::balanced && !o.class_share.empty())
    throw Error({.what = "--class-share goes with --class-weight balanced",
                 .value = o.class_weight.text,
                 .where = "option --class-share",
                 .fix = "give both, or leave it out"});
  if (how == ClassWeight::none) return;
  if (o.loss == LossKind::huber || o.loss == LossKind::squared)
    throw Error({.what = "class weights belong to labels that are classes, and here the label is a number",
                 .value = o.loss.text,
                 .allowed = "logistic, huber-hinge, hinge, softmax",
                 .where = "option --class-weight",
                 .fix = "leave it out"});
  if (o.sensitivity == Sensitivity::paper)
    throw Error({.what = "the paper's sensitivity knows no class weights",
                 .value = "paper",
                 .allowed = "proved",
                 .where = "option --sensitivity",
                 .fix = "leave one of the two out"});
  class_weights(o, classes);
}

void check_rules(const Options& o, const Algorithm& a, int nodes) {
  check_list(o.penalty, "penalty", nodes);
  check_list(o.penalty_growth, "penalty-growth", nodes);
  if (!o.noise_rate.empty()) check_list(o.noise_rate, "noise-rate", nodes);
  if (!o.noise_scale.empty()) check_list(o.noise_scale, "noise-scale", nodes);
  check_list(o.noise_rate_growth, "noise-rate-growth", nodes);
  const bool grows = std::ranges::any_of(o.penalty_growth, [](double q) { return q != 1; });
  if (grows && !a.growing)
    throw Error({.what = a.name + " has a fixed penalty (" + a.source + ")",
                 .value = "penalty-growth " + number(o.penalty_growth[0]),
                 .allowed = "1",
                 .where = "option --penalty-growth",
                 .fix = a.recycled ? "use --algorithm mr-admm" : "use --algorithm m-admm or pp"});
  if (a.on_penalty && o.noise_on == Place::output)
    throw Error({.what = a.name + " puts its noise into the penalty term (" + a.source + ")",
                 .value = "output",
                 .allowed = "objective",
                 .where = "option --noise-on",
                 .fix = "use --algorithm m-admm --noise gamma --noise-on output"});
  if (a.star && (o.penalty.size() != 1 || o.dual_step != DualStep::common))
    throw Error({.what = "a star has one penalty, which is its dual step too (" + a.source + ")",
                 .where = o.penalty.size() != 1 ? "option --penalty" : "option --dual-step",
                 .fix = "give one --penalty, and leave --dual-step out"});
  if (a.star && o.start != FirstIterate::zero)
    throw Error({.what = a.name + " starts at zero (" + a.source + ")",
                 .value = o.start.text,
                 .allowed = "zero",
                 .where = "option --start",
                 .fix = "leave it out"});
  check_loss_width(o);
}

void check_loss_width(const Options& o) {
  if (o.loss == LossKind::huber && o.loss_width > 2)
    throw Error({.what = "residuals of targets in [-1, 1] are clipped at loss-width",
                 .value = number(o.loss_width),
                 .allowed = "> 0 and <= 2",
                 .where = "option --loss-width",
                 .fix = "give --loss-width a value in that range"});
}

void check_colluders(const Options& o, const Algorithm& a, int nodes) {
  if (!o.colluders) return;
  const std::string count = std::to_string(*o.colluders);
  const auto refuse = [&](const std::string& what, const std::string& allowed, const std::string& fix) {
    throw Error({.what = what, .value = count, .allowed = allowed, .where = "option --colluders", .fix = fix});
  };
  if (*o.colluders > static_cast<std::uint64_t>(nodes) - 1)
    refuse("there are not so many other parties: " + std::to_string(nodes) + " take part",
           nodes == 1 ? "none" : "1 to " + std::to_string(nodes - 1),
           "leave it out: then the guarantee holds against all others together");
  if (!a.sums && !a.linear)
    refuse(a.name +
               " minimises: a party's noise goes through its own curvature before it is added to others', and does "
               "not cancel",
           "newton, dp-gd, dp-admm, linear-admm", "use --algorithm newton, or leave it out");
  const bool gaussian = o.noise == Noise::gaussian || (a.sums && o.noise == Noise::automatic);
  if (!gaussian || o.epsilon.empty())
    refuse("noise that cancels is Gaussian and planned for a budget", "with --epsilon and a --delta above 0",
           "give --epsilon, or leave it out");
}

void check_diameter(const Options& o) {
  if (o.diameter == Diameter::at_point && o.loss != LossKind::logistic)
    throw Error({.what = "the gradient diameter at a point is proved for the logistic loss",
                 .value = o.loss.text,
                 .allowed = "--diameter worst",
                 .where = "option --diameter",
                 .fix = "leave it out"});
}

// Which loss and regulariser may stand where (docs/check/algorithms.md, tables).
void check_problem(const Options& o, const Algorithm& a) {
  const bool objective_noise = o.noise != Noise::none && o.noise_on == Place::objective;
  const std::string other = "use --algorithm dp-admm or linear-admm";
  if (o.loss == LossKind::hinge && !a.linear)
    throw Error({.what = a.name + " minimises the loss, and the plain hinge has a kink",
                 .value = "hinge",
                 .allowed = "logistic, huber-hinge",
                 .where = "option --loss",
                 .fix = other + ", whose updates need a subgradient only, or --loss huber-hinge"});
  if (o.loss == LossKind::softmax && objective_noise)
    throw Error({.what = "noise in the objective is proved for losses of one score",
                 .value = "softmax",
                 .where = "option --loss",
                 .fix = "use --noise-on output, or --algorithm dp-admm or linear-admm"});
  if (o.class_weight != ClassWeight::none && objective_noise && o.noise == Noise::gaussian)
    throw Error({.what = "Gaussian noise in the objective is proved for records that weigh the same "
                         "(docs/proofs/gaussian.md)",
                 .value = "--class-weight " + o.class_weight.text,
                 .allowed = "--class-weight none",
                 .where = "option --noise-on",
                 .fix = a.on_penalty ? "use --algorithm newton, or --noise gamma"
                                     : "use --algorithm newton, --noise-on output, or --noise gamma"});
  if (o.regularizer != Regularizer::l2 && objective_noise)
    throw Error({.what =
                     "noise in the objective needs a regulariser without kinks: at a kink many noises give the same "
                     "minimum, so the proof's one-to-one map between them is gone",
                 .value = o.regularizer.text,
                 .allowed = "l2",
                 .where = "option --regularizer",
                 .fix = "use --noise-on output, or --algorithm dp-admm or linear-admm"});
  if (!a.linear && (o.step_size != StepSize::automatic || o.solution_bound))
    throw Error({.what = a.name + " minimises and has no proximal step",
                 .where = o.step_size != StepSize::automatic ? "option --step-size" : "option --solution-bound",
                 .fix = "leave it out, or " + other});
  if (o.step_size == StepSize::smooth && (o.loss == LossKind::hinge || o.regularizer != Regularizer::l2))
    throw Error({.what = "HHCG20 Theorem 4 asks for a loss and a regulariser that are twice differentiable",
                 .value = o.loss.text + ", " + o.regularizer.text,
                 .where = "option --step-size",
                 .fix = "use --step-size convex"});
  if (split_list(o.step_size.text).size() != 1)
    throw Error({.what = "one step size for all nodes", .where = "option --step-size", .fix = "give one number"});
  if (o.diameter == Diameter::at_point && !a.linear)
    throw Error({.what = a.name + " minimises, and releases no gradient",
                 .value = "at-point",
                 .where = "option --diameter",
                 .fix = "leave it out"});
  check_diameter(o);
  if (o.sensitivity == Sensitivity::paper && (!a.star || a.linear || !a.noisy))
    throw Error({.what = "the paper's sensitivity is star-pvp's",
                 .value = a.name,
                 .where = "option --sensitivity",
                 .fix = "leave it out, or use --algorithm star-pvp"});
}

namespace {

constexpr double largest_tolerance = 1e-3;

// What a node's rounding needs, relative to C_i/B_i, and where.
struct Needed {
  double tolerance = 0;
  int node = 0;
  long round = 0;
};

// A linearised update: the sum over rows to half the tolerance. A minimum within the release bound: by reach.h.
double needed_in(const Schedule& s, const PrivateRound& r, const problem::Sizes& sizes) {
  if (s.algorithm.linear) return 2 * problem::summation_rounding(sizes) / s.weight;
  const double noise = r.largest_objective_noise(sizes.features * s.loss.scores());
  const problem::Reach far = problem::reach_within(sizes, s.release_bound, noise, r.strong_convexity, s.weight);
  return problem::certifiable_tolerance(sizes, far) / s.weight;
}

Needed needed_by(const std::vector<Schedule>& nodes, const Setting& setting) {
  Needed most;
  for (const Schedule& s : nodes) {
    const problem::Sizes sizes{.records = setting.records[static_cast<std::size_t>(s.node)],
                               .features = static_cast<double>(std::max(setting.features, 1L)),
                               .loss = s.loss,
                               .weight = s.weight,
                               .l1 = s.l1};
    for (std::size_t k = 0; k < s.private_rounds.size(); ++k) {
      const double needed = needed_in(s, s.private_rounds[k], sizes);
      if (needed > most.tolerance) most = {needed, s.node, static_cast<long>(k) + 1};
    }
  }
  return most;
}

}  // namespace

double certified_tolerance(const Plan& plan, const Options& given, const Setting& setting) {
  const double usual = *plan.options.tolerance;
  if (!plan.noisy()) return usual;
  const Needed needed = needed_by(plan.nodes, setting);
  const double allowed = given.tolerance.value_or(largest_tolerance);
  if (needed.tolerance <= allowed) return std::max(usual, needed.tolerance);
  const bool grown = needed.round > 1;  // only a penalty that grows makes a later round worse than the first
  std::string fix = grown ? "end the growth with --penalty-growth-rounds" : "lower --release-bound";
  if (given.tolerance) fix += ", raise --tolerance, or leave it out";
  if (!given.tolerance && needed.tolerance < 1) fix += ", or give that --tolerance: more charged noise covers it";
  throw Error(
      {.what = "private round " + std::to_string(needed.round) + " of node " + std::to_string(needed.node) +
               " could not be certified in double arithmetic for all rows and all messages of others",
       .value = given.tolerance ? "tolerance " + number(*given.tolerance) : "a tolerance up to " + number(allowed),
       .allowed = "at least " + number(needed.tolerance) + " with these records, features and penalties and " +
                  "release-bound " + number(given.release_bound),
       .where = grown ? "option --penalty-growth" : "option --tolerance",
       .fix = fix});
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

bool decides_privacy(const Options& o) {
  return !o.epsilon.empty() || o.iteration_epsilon || !o.noise_rate.empty() || !o.noise_scale.empty() ||
         o.noise == Noise::none || o.noise == Noise::gaussian;
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
