#include "parley/algorithm/schedule.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "parley/algorithm/newton/newton_plan.h"
#include "parley/algorithm/planner.h"
#include "parley/algorithm/pricing.h"
#include "parley/algorithm/rules.h"
#include "parley/algorithm/step_size.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/privacy/moments.h"
#include "parley/privacy/random.h"
#include "parley/problem/solve.h"

namespace parley::algorithm {
namespace {

double penalty_at(const Options& o, int node, long k) {
  const long grown = o.penalty_growth_rounds > 0 ? std::min(k, o.penalty_growth_rounds) : k;
  return of_node(o.penalty, node) * std::pow(of_node(o.penalty_growth, node), static_cast<double>(grown - 1));
}

// θ(k): one number for all nodes by default, because Σ_i λ_i = 0 must be conserved for the limit to be the optimum
// (docs/check/algorithms-rounds.md).
double dual_step_at(const Options& o, const Algorithm& a, int nodes, int node, long k) {
  if (o.dual_step == DualStep::penalty) return penalty_at(o, node, k);
  if (o.dual_step == DualStep::numbers) {
    const auto parts = split_list(o.dual_step.text);
    return parse_number(parts.size() == 1 ? parts[0] : parts[static_cast<std::size_t>(node)], "dual-step",
                        "option --dual-step");
  }
  double smallest = penalty_at(o, 0, a.first_dual_step ? 1 : k);
  for (int i = 1; i < nodes; ++i) smallest = std::min(smallest, penalty_at(o, i, a.first_dual_step ? 1 : k));
  return smallest;
}

}  // namespace

long private_rounds(const Algorithm& algorithm, long rounds) {
  return algorithm.recycled ? (rounds + 1) / 2 : rounds;
}

const PrivateRound& Schedule::private_round(int round) const {
  expects(round >= 1 && round <= rounds, "a round of the schedule");
  return private_rounds[static_cast<std::size_t>(alternates() ? (round + 1) / 2 : round) - 1];
}

double PrivateRound::largest_objective_noise(double dimension) const {
  return (objective_rate > 0 ? privacy::largest_gamma_norm(dimension, objective_rate) : 0) +
         (objective_scale > 0 ? privacy::largest_gaussian_norm(dimension, objective_scale) : 0);
}

double Schedule::finest_grid() const {
  return std::max(0x1p-40, std::exp2(std::ceil(std::log2(release_bound)) - 51));
}

double Schedule::largest_record_weight() const {
  return loss.weighted() ? std::nextafter(weight * loss.largest_weight(), HUGE_VAL) : weight;
}

problem::Loss Schedule::summed_loss() const {
  problem::Loss cut = loss;
  cut.cap = sums->clip;
  return cut;
}

Index Plan::size(int node, int round, Index dimension) const {
  const auto& terms = nodes.front().sums;
  if (terms && round >= 1 && round <= terms->rounds) return terms->layout(round).size();
  return speaks(node, round) ? dimension : 0;
}

Index Plan::largest_size(Index dimension) const {
  Index most = dimension;
  if (const auto& terms = nodes.front().sums)
    for (const long round : {1L, terms->main_rounds() + 1, terms->rounds})
      most = std::max(most, size(0, static_cast<int>(round), dimension));
  return most;
}

double Plan::epsilon() const {
  double most = 0;
  for (const Schedule& s : nodes) most = std::max(most, s.epsilon);
  return most;
}

double Plan::epsilon_all_others() const {
  double most = 0;
  for (const Schedule& s : nodes) most = std::max(most, s.epsilon_all_others);
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
  if (s.algorithm.linear)
    return std::string(s.noise == Noise::gaussian ? "Gaussian DP of a linearised update"
                                                  : "noise on a linearised update") +
           " (docs/proofs/linear.md, theorems U1, U3)";
  if (s.noise == Noise::gaussian) {
    if (s.verified_only)
      return "numerically verified bound for sigma/kappa > 1.75, not a proof (docs/proofs/gaussian.md)";
    return output ? "Gaussian DP of the output (docs/proofs/output.md, theorem 6)"
                  : "Gaussian objective perturbation (docs/proofs/gaussian.md, theorem G and corollary 2)";
  }
  const std::string composed = s.delta > 0 ? "; Kairouz-Oh-Viswanath composition" : "";
  if (output) return "output sensitivity 2GC/(B kappa) (docs/proofs/output.md, theorem 3)" + composed;
  return (logistic ? "exact supremum for the logistic loss (docs/proofs/objective.md, theorem 2)"
                   : "rank-one Jacobian bound (docs/proofs/objective.md, theorem 1)") +
         composed;
}

// The noise of every private round, as given. HHCG20's: σ = Δ√(2 ln(1.25/δ))/ε, so that each round alone is (ε, δ).
std::vector<double> given_levels(const Schedule& s, const Options& o, long earlier) {
  std::vector<double> levels;
  for (std::size_t k = 0; k < s.private_rounds.size(); ++k) {
    if (o.iteration_epsilon)
      levels.push_back(printed_sensitivity(s, s.private_rounds[k], o.sensitivity == Sensitivity::paper) /
                       privacy::dp_admm_mu(*o.iteration_epsilon, *o.iteration_delta));
    else if (s.noise == Noise::gaussian)
      levels.push_back(of_node(o.noise_scale, s.node));
    else
      levels.push_back(of_node(o.noise_rate, s.node) * std::pow(of_node(o.noise_rate_growth, s.node),
                                                                static_cast<double>(earlier) + static_cast<double>(k)));
  }
  return levels;
}

// A linearised update's divisor, 2ηV + 1/s or ρ + 1/s, once the noise of its gradient is known.
void set_divisors(Schedule& s, const Options& o, const Setting& setting, const std::vector<double>& levels) {
  const double dimension = static_cast<double>(setting.features * s.loss.scores());
  const double loss_weight = s.weight * setting.records[static_cast<std::size_t>(s.node)];
  StepFacts facts{.gradient_bound = loss_weight * s.loss.gradient_bound(),
                  .curvature_bound = loss_weight * s.loss.curvature_bound(),
                  .regularization = s.regularization,
                  .l1 = s.l1,
                  .dimension = dimension,
                  .solution_bound = *o.solution_bound};
  if (s.l1 > 0 && setting.features == 0 && o.step_size == StepSize::convex)
    throw Error({.what = "the step size of Theorem 3 with l1 depends on the number of features",
                 .where = "option --step-size",
                 .fix = "give --features, or --step-size as a number"});
  for (std::size_t k = 0; k < s.private_rounds.size(); ++k) {
    PrivateRound& r = s.private_rounds[k];
    const long round = setting.earlier + static_cast<long>(k) + 1;
    // Gamma noise of rate α has variance (d+1)/α² in each coordinate; what is shared cancels in the mean of all nodes.
    if (s.noise != Noise::none)
      facts.gradient_noise = s.noise == Noise::gaussian ? levels[k] * s.sharing.noise.own
                                                        : std::sqrt(std::max(dimension, 1.0) + 1) / levels[k];
    r.step_size = o.step_size == StepSize::convex   ? convex_step(facts, round)
                  : o.step_size == StepSize::smooth ? smooth_step(facts, round)
                                                    : parse_number(o.step_size.text, "step-size", "option --step-size");
    r.divisor = s.curvature_of(r.penalty) + 1 / r.step_size;
  }
}

void price_rounds(Schedule& s, const std::vector<double>& levels) {
  std::vector<privacy::Charge> charges;
  s.verified_only = false;
  for (std::size_t k = 0; k < levels.size(); ++k) {
    price(s.private_rounds[k], s, levels[k]);
    charges.push_back(s.private_rounds[k].charge);
  }
  set_epsilon(s, charges);
}

void price_all(Schedule& s, const Options& o, const Setting& setting) {
  const bool budget = !o.epsilon.empty();
  const double target = budget ? of_node(o.epsilon, s.node) : 0;
  std::vector<double> levels;
  // Unequal pure rounds are composed on a grid that rounds up, by up to 5e-5 of the total: then a little less is
  // asked for.
  for (const double less : {0.0, 1e-9, 1e-5, 1e-4, 3e-4}) {
    if (s.noise != Noise::none)
      levels = budget ? calibrate(s, target * (1 - less), o.sensitivity == Sensitivity::paper)
                      : given_levels(s, o, setting.earlier);
    if (s.algorithm.linear) set_divisors(s, o, setting, levels);
    if (s.noise == Noise::none) break;
    price_rounds(s, levels);
    if (!budget || s.epsilon <= target) break;
  }
  if (s.noise == Noise::none) {
    for (PrivateRound& r : s.private_rounds) r.charge = no_noise();
    s.epsilon = s.epsilon_all_others = no_noise().epsilon;
  }
  expects(!budget || s.epsilon <= target, "a calibrated run stays within its budget");
  price_as_printed(s, levels);
}

// A whole noise vector on the iterate stays well within an anchor's reach. (A Hessian kept per node costs memory, and
// with more noise than this it would never be used again.)
bool moves_little(const Schedule& s, const Setting& setting) {
  if (s.algorithm.linear) return false;
  const double d = std::max(1.0, static_cast<double>(setting.features * s.loss.scores()));
  double most = 0;
  for (const PrivateRound& r : s.private_rounds) {
    const double gamma = (r.objective_rate > 0 ? 1 / (r.objective_rate * r.strong_convexity) : 0) +
                         (r.output_rate > 0 ? 1 / r.output_rate : 0);
    most = std::max(most, std::sqrt(d) * (r.objective_scale / r.strong_convexity + r.output_scale) + d * gamma);
  }
  return most < problem::Anchor::reach / 2;
}

// What two parties share cancels where both have it in the same size.
void check_equal_scales(const Plan& plan) {
  if (!plan.sharing().on()) return;
  const double first = plan.nodes.front().private_rounds.front().gradient_scale;
  for (const Schedule& s : plan.nodes)
    if (std::abs(s.private_rounds.front().gradient_scale / first - 1) > 1e-9)
      throw Error(
          {.what = s.algorithm.name + " would have noise of different sizes, and what parties share would not cancel",
           .value = number(s.private_rounds.front().gradient_scale) + " at node " + std::to_string(s.node) + ", " +
                    number(first) + " at node 0",
           .where = "option --colluders",
           .fix = "use --algorithm newton, or one --epsilon and --weighting rows"});
}

// Only what is proved is multiplied by g (docs/proofs/person.md).
void check_group_bound(const Plan& plan) {
  if (plan.nodes.front().group() == 1 || !plan.verified_only()) return;
  throw Error(
      {.what = "no bound for several rows of one person is proved where the bound for one row is only verified "
               "numerically",
       .value = "--bound verified with " + std::to_string(plan.nodes.front().rows_per_person) + " rows per person",
       .allowed = "proved",
       .where = "option --bound",
       .fix = "leave it out, or use --noise-on output"});
}

}  // namespace

std::string whole_theorem(const std::string& theorem, const Schedule& s) {
  std::string all = theorem;
  if (s.sharing.on()) all += shared_noise_theorem;
  if (s.group() > 1)
    all += "; up to " + std::to_string(s.group()) + " rows of a person (docs/proofs/person.md, theorem P1)";
  return all;
}

Schedule begun(const Options& o, const Algorithm& a, const Setting& setting, int i) {
  const int nodes = setting.nodes();
  Schedule s{.algorithm = a, .node = i};
  s.noise = o.noise;
  s.place = o.noise_on;
  s.diameter_at_point = o.diameter == Diameter::at_point;
  s.delta = s.noise == Noise::none ? 0 : *o.delta;
  s.loss = loss_of(o, setting.classes);
  s.weight = record_weight(o, setting, i);
  const double l1 = l1_share(o);
  s.regularization = (1 - l1) * *o.regularization / nodes;
  s.l1 = l1 * *o.regularization / nodes;
  s.release_bound = o.release_bound;
  s.rows_per_person = setting.rows_per_person;
  s.sharing = sharing_of(o, nodes);
  return s;
}

namespace {

// Everything of node i's schedule but its tolerance, noise and charges.
Schedule outline(const Options& o, const Algorithm& a, const Setting& setting, int i) {
  Schedule s = begun(o, a, setting, i);
  s.degree = setting.degree[static_cast<std::size_t>(i)];
  s.rounds = a.star ? 2 * o.rounds : o.rounds;
  s.bound = o.bound;
  s.random_start = o.start == FirstIterate::random;
  for (long k = 1; k <= private_rounds(a, o.rounds); ++k) {
    const long whole = setting.earlier + k;  // of the whole run
    PrivateRound r{.penalty = penalty_at(o, i, whole),
                   .dual_step = dual_step_at(o, a, setting.nodes(), i, whole),
                   .damping = *o.damping * std::pow(o.damping_growth, static_cast<double>(whole - 1)),
                   .grid = s.finest_grid()};
    r.strong_convexity = s.regularization + s.curvature_of(r.penalty);
    s.private_rounds.push_back(r);
  }
  return s;
}

}  // namespace

Plan make_plan(const Options& given, const Setting& setting, bool exact) {
  const int nodes = setting.nodes();
  const Options o = fill_in(given, setting);
  const Algorithm& a = algorithm_named(o.algorithm);
  if (a.sums) {
    Plan plan = newton::make_plan(o, a, setting);
    plan.features = setting.features;
    warn(plan, setting);
    return plan;
  }
  check_rules(o, a, nodes);
  check_problem(o, a);
  if (o.dual_step == DualStep::numbers)
    check_list(std::vector<double>(split_list(o.dual_step.text).size()), "dual-step", nodes);
  Plan plan{
      .options = o, .tolerance_given = o.tolerance, .average = o.average == Average::yes, .features = setting.features};
  for (int i = 0; i < nodes; ++i) plan.nodes.push_back(outline(o, a, setting, i));
  const auto price_for = [&](double tolerance) {
    plan.options.tolerance = tolerance;
    for (Schedule& s : plan.nodes) {
      s.tolerance = exact ? 0 : tolerance * s.weight;
      price_all(s, o, setting);
    }
  };
  price_for(o.tolerance.value_or(usual_tolerance));
  if (!exact)  // what is needed depends on the noise in the objective, which no tolerance changes
    if (const double needed = certified_tolerance(plan, o, setting); needed > *plan.options.tolerance)
      price_for(needed);
  check_equal_scales(plan);
  check_group_bound(plan);
  for (Schedule& s : plan.nodes) {
    s.anchored = moves_little(s, setting);
    s.theorem = whole_theorem(theorem_of(s), s);
  }
  check_doable(plan, setting);
  warn(plan, setting);
  return plan;
}

double first_noise_level(const Schedule& s) {
  const PrivateRound& r = s.private_rounds.front();
  const bool gaussian = s.noise == Noise::gaussian;
  if (s.place == Place::output) return gaussian ? r.output_scale : r.output_rate;
  if (s.place == Place::gradient) return gaussian ? r.gradient_scale : r.gradient_rate;
  return gaussian ? r.objective_scale : r.objective_rate;
}

problem::Problem problem_of(const data::Rows& rows, const Schedule& s) {
  return {.rows = &rows, .loss = s.loss, .weight = s.weight, .regularization = s.regularization, .l1 = s.l1};
}

}  // namespace parley::algorithm
