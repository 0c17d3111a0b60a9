#include "parley/algorithm/newton/newton_plan.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "parley/algorithm/newton/intervals_plan.h"
#include "parley/algorithm/planner.h"
#include "parley/algorithm/pricing.h"
#include "parley/algorithm/rules.h"
#include "parley/base/error.h"
#include "parley/base/limits.h"
#include "parley/base/text.h"
#include "parley/privacy/gaussian.h"
#include "parley/privacy/group.h"
#include "parley/privacy/sums_round.h"
#include "parley/problem/reach.h"
#include "parley/problem/row_sums.h"

namespace parley::algorithm::newton {
namespace {

using problem::LossKind;

constexpr long planned_rounds = 32, planned_gd_rounds = 100;
constexpr double planned_share = 0.1, planned_share_of_squares = 0.2, planned_ridge = 1e-5, planned_momentum = 0.9;
constexpr double clip_when_clear = 0.5, clip_when_noisy = 0.35, noisy_from = 0.03;  // ν
// Features from which the floor under the curvature's eigenvalues already makes steps short: cutting slopes at 0.35 makes
// them shorter, and lost 0.5 to 3 points from 300 features on; it gained 0.2 to 0.6 with 100
// (docs/check/newton-settings.md).
constexpr Index short_steps_from = 150;
constexpr double usual_tolerance = 1e-6;  // of a sum of gradients, where adding up rounds by less
constexpr Index forecast_up_to = 300;     // weights: those of the largest task that the forecast was compared with

double all_records(const Setting& setting) {
  return std::accumulate(setting.records.begin(), setting.records.end(), 0.0);
}

// Noise follows the largest class weight, and the signal all of them: their mean, as classes of one size would have it.
double spread_of_weights(const problem::Loss& loss) {
  if (!loss.weighted()) return 1;
  const double sum = std::accumulate(loss.class_weights.begin(), loss.class_weights.end(), 0.0);
  return loss.largest_weight() * static_cast<double>(loss.class_weights.size()) / sum;
}

// ν before the noise is known. Without a budget none is planned for.
double planned_noise_to_signal(const Options& o, const Setting& setting) {
  if (o.epsilon.empty()) return 0;
  Known k{.epsilon = {},
          .delta = *o.delta,
          .weights = static_cast<double>(setting.features * loss_of(o, setting.classes).scores()),
          .records = all_records(setting),
          .colluders = sharing_of(o, setting.nodes()).colluders,
          .rows_per_person = std::max(1L, setting.rows_per_person)};
  for (int i = 0; i < setting.nodes(); ++i) k.epsilon.push_back(of_node(o.epsilon, i));
  return noise_to_signal(k) * spread_of_weights(loss_of(o, setting.classes));
}

// Of several classes slopes are not cut (below). For the hinge steps become too short: its c₁ bounds a curvature that
// few rows have, and cutting at 0.35 lost 2.5 points at ν = 0.05 (docs/check/frontier.md).
bool cut_pays(const problem::Loss& loss) {
  return loss.kind == LossKind::logistic || loss.kind == LossKind::huber;
}

double planned_clip(const Options& o, const Algorithm& a, const Setting& setting) {
  const bool short_steps = a.curved && o.loss == LossKind::logistic && setting.features >= short_steps_from;
  return short_steps || planned_noise_to_signal(o, setting) < noisy_from ? clip_when_clear : clip_when_noisy;
}

[[noreturn]] void refuse(const Algorithm& a, const std::string& option, const std::string& why) {
  throw Error({.what = a.name + " " + why, .where = "option --" + option, .fix = "leave it out"});
}

constexpr double PrivateRound::* noise_scales[] = {&PrivateRound::gradient_scale, &PrivateRound::curvature_scale,
                                                   &PrivateRound::hessian_scale, &PrivateRound::spread_scale,
                                                   &PrivateRound::square_scale};

// What belongs to ADMM alone.
void check_absent(const Options& o, const Algorithm& a, int classes) {
  const std::string sums = "exchanges sums over rows, and has none";
  if (!o.penalty.empty()) refuse(a, "penalty", sums);
  if (o.penalty_growth != std::vector<double>{1}) refuse(a, "penalty-growth", sums);
  if (o.dual_step != DualStep::common) refuse(a, "dual-step", sums);
  if (o.step_size != StepSize::automatic) refuse(a, "step-size", sums);
  if (o.solution_bound) refuse(a, "solution-bound", sums);
  if (o.damping) refuse(a, "damping", sums);
  if (o.iteration_epsilon) refuse(a, "iteration-epsilon", "is planned for the whole run: give --epsilon");
  if (o.sensitivity != Sensitivity::proved) refuse(a, "sensitivity", "is in no paper: its sensitivity is proved");
  if (o.tolerance) refuse(a, "tolerance", "minimises nothing locally: rounding is bounded by public sizes");
  if (o.start != FirstIterate::zero) refuse(a, "start", "starts at zero");
  if (o.noise_on != Place::automatic && o.noise_on != Place::gradient) refuse(a, "noise-on", "has its noise on sums");
  if (o.noise == Noise::gamma) refuse(a, "noise", "has Gaussian noise");
  if (!o.noise_rate.empty()) refuse(a, "noise-rate", "has Gaussian noise, which has a scale");
  if (o.noise_rate_growth != std::vector<double>{1}) refuse(a, "noise-rate-growth", "has Gaussian noise");
  if (o.damping_growth != 1) refuse(a, "damping-growth", sums);
  if (o.penalty_growth_rounds != 0) refuse(a, "penalty-growth-rounds", sums);
  if (o.bound != privacy::Bound::proved) refuse(a, "bound", "needs no other bound than the proved one");
  check_diameter(o);
  if (!o.epsilon.empty() && o.delta && *o.delta == 0)
    throw Error({.what = a.name + " has Gaussian noise, which has no guarantee with delta = 0",
                 .value = "0",
                 .allowed = "> 0",
                 .where = "option --delta",
                 .fix = "leave it out, or use another --algorithm"});
  if (o.weighting == Weighting::equal)
    throw Error({.what = a.name + " counts every record the same",
                 .value = "equal",
                 .allowed = "auto, rows",
                 .where = "option --weighting",
                 .fix = "leave it out, or use another --algorithm"});
  if (o.loss == LossKind::hinge)
    throw Error({.what = a.name + " needs a bound on the loss' curvature, and the plain hinge has a kink",
                 .value = "hinge",
                 .allowed = "logistic, huber-hinge, huber, squared, softmax",
                 .where = "option --loss",
                 .fix = "use --loss huber-hinge"});
  if (o.loss == LossKind::softmax && o.clip && *o.clip < loss_of(o, classes).plain_gradient_bound())
    refuse(a, "clip", "does not cut the gradients of several classes: they would be the gradient of no convex loss");
  if (!a.curved && (o.curvature != CurvatureShape::automatic || o.curvature_share))
    refuse(a, o.curvature_share ? "curvature-share" : "curvature", "releases no curvature");
}

// Numbers of a party's first round, with all second moments.
double full_size(const Options& o, const RowSize& size) {
  const double d = static_cast<double>(size.features);
  return d * (d + 1) / 2 + d * loss_of(o, size.classes).scores();
}

// Full where it fits. The diagonal steps by the most entries of a row: with d in their place it hardly moves.
CurvatureShape planned_curvature(const Options& o, const Algorithm& a, const RowSize& size) {
  if (full_curvature_fits(o, size)) return CurvatureShape::full;
  if (!lacks_entries(o, size)) return CurvatureShape::diagonal;
  throw Error(
      {.what = a.name + " does not release all second moments of so many features, and with their squares "
                        "alone its steps need to know how many entries a row has at most: without that the "
                        "model would guess",
       .value =
           std::to_string(size.features) + " features at " + std::to_string(size.parties) + " parties, and no schema",
       .allowed = "at most " + std::to_string(most_features_of_full_curvature) + " features, with at most " +
                  number(static_cast<double>(most_numbers_of_a_round)) + " numbers in the first round of all parties",
       .where = "option --curvature",
       .fix = "use fewer features, or a schema, or --algorithm mr-admm; --curvature full or diagonal is taken "
              "as it is given"});
}

// The first round of all parties must fit into a record.
void check_size(Options& o, const Algorithm& a, const Setting& setting) {
  const RowSize size_of_rows{
      .features = setting.features, .entries = setting.entries, .parties = setting.nodes(), .classes = setting.classes};
  const double d = static_cast<double>(setting.features), all = setting.nodes();
  const double most = static_cast<double>(most_numbers_of_a_round);
  const double gradients = d * loss_of(o, setting.classes).scores(), full = full_size(o, size_of_rows);
  if (a.curved && o.curvature == CurvatureShape::automatic) o.curvature = planned_curvature(o, a, size_of_rows);
  const double size = !a.curved                             ? gradients
                      : o.intervals                         ? 2 * full - d  // of the last round
                      : o.curvature == CurvatureShape::full ? full
                                                            : d + gradients;
  if (all * size <= most) return;
  throw Error({.what = "the first round of " + a.name + " would have more numbers than a record holds",
               .value = number(all * size),
               .allowed = "at most " + number(most) + " over all parties",
               .where = o.intervals                           ? "option --intervals"
                        : o.curvature == CurvatureShape::full ? "option --curvature"
                                                              : "option --features",
               .fix = o.curvature == CurvatureShape::full && !o.intervals && o.loss != LossKind::squared
                          ? "use --curvature diagonal"
                          : "use fewer features or parties"});
}

Shape shape_of(const Options& o, const Algorithm& a) {
  if (!a.curved) return Shape::none;
  return o.curvature == CurvatureShape::full ? Shape::full : Shape::diagonal;
}

// What a sum of gradients of the most records may be off by, and by what else τ must cover (docs/check/newton.md,
// section 3). One for all parties: the noise at a point, which depends on it, is the same everywhere.
double tolerance_for(const problem::Loss& loss, const Setting& setting) {
  const problem::Sizes sizes{.records = *std::ranges::max_element(setting.records),
                             .features = static_cast<double>(setting.features > 0 ? setting.features : 1'000'000),
                             .loss = loss,
                             .weight = 1};
  return std::max(usual_tolerance, 2 * problem::summation_rounding(sizes));
}

double share_of_curvature(const Schedule& s, const Options& o) {
  return s.sums->shape == Shape::none || s.sums->moments_known ? 0 : *o.curvature_share;
}

// G of a round.
double bound_in(const Schedule& s, long round) {
  return (s.sums->biased(round) ? s.summed_loss() : s.loss).gradient_bound();
}

// The noise of every round, such that the whole run costs one row μ, split as planned.
void set_noise(Schedule& s, const Options& o, double mu) {
  set_final_noise(s, o, mu);
  const double share = share_of_curvature(s, o), rounds = static_cast<double>(s.sums->main_rounds());
  if (rounds == 0) return;
  const double less = 1 - 1e-13 - 1e-18 * rounds;  // composing rounds up once a round
  mu *= std::sqrt(main_share(o));
  const double each = mu * std::sqrt((1 - share) / rounds) * less;
  for (long k = 0; k < s.sums->main_rounds(); ++k)
    s.private_rounds[static_cast<std::size_t>(k)].gradient_scale =
        privacy::gradient_scale_for(bound_in(s, k + 1), each, s.tolerance);
  PrivateRound& first = s.private_rounds.front();
  if (share > 0)
    first.curvature_scale = privacy::curvature_scale_for(mu * std::sqrt(share) * less, first.curvature_tolerance);
}

// What two parties share cancels where both have it in the same size: that of who asks for most. The charges follow.
void equalise(Plan& plan) {
  for (std::size_t k = 0; k < plan.nodes.front().private_rounds.size(); ++k)
    for (double PrivateRound::* const scale : noise_scales) {
      double most = 0;
      for (const Schedule& s : plan.nodes) most = std::max(most, s.private_rounds[k].*scale);
      for (Schedule& s : plan.nodes) s.private_rounds[k].*scale = most;
    }
}

Schedule outline(const Options& o, const Algorithm& a, const Setting& setting, int i) {
  Schedule s = begun(o, a, setting, i);
  s.degree = setting.nodes() - 1;  // everybody hears everybody
  const long final = o.intervals ? 1 : 0, main = o.intervals && o.loss == LossKind::squared ? 0 : o.rounds;
  s.rounds = main + final + 1;
  s.sums = Terms{.records = all_records(setting),
                 .ridge = s.regularization / o.loss_weight,  // the objective is N C times that of newton.h
                 .l1 = s.l1 / o.loss_weight,
                 .c1 = s.loss.curvature_bound(),
                 .clip = *o.clip,
                 .entries = static_cast<double>(setting.entries > 0 ? setting.entries : setting.features),
                 .momentum = a.curved ? 0 : planned_momentum,
                 .shape = shape_of(o, a),
                 .moments_known = setting.moments.has_value(),
                 .features = static_cast<Index>(setting.features),
                 .scores = s.loss.scores(),
                 .rounds = main + final,
                 .earlier = setting.earlier,
                 .average = o.average == Average::yes,
                 .release_bound = o.release_bound,
                 .grid = s.finest_grid()};
  if (o.intervals) s.sums->final.noise.emplace();
  s.tolerance = tolerance_for(final > 0 ? s.loss : s.summed_loss(), setting);
  s.sums->final.loss = s.loss;
  s.sums->final.diameter_at_point = s.diameter_at_point;
  s.sums->final.tolerance = s.tolerance;
  s.private_rounds.resize(static_cast<std::size_t>(main + final));
  for (std::size_t k = 0; k < s.private_rounds.size(); ++k)
    if (k == 0 || k >= static_cast<std::size_t>(main))
      s.private_rounds[k].curvature_tolerance = problem::moment_rounding(setting.records[static_cast<std::size_t>(i)]);
  s.theorem = whole_theorem(o.intervals ? "Gaussian DP of sums over rows (docs/check/newton.md, theorems N1 and N2)"
                                        : "Gaussian DP of sums over rows (docs/check/newton.md, theorem N1)",
                            s);
  s.epsilon_paper_absent = "no paper has it";
  s.paper_equation = "none";
  return s;
}

// √Σσ²: of a coordinate of the sum of all parties' sums.
double noise_of_all(const Plan& plan, double PrivateRound::* scale, bool last = false) {
  double square = 0;
  for (const Schedule& s : plan.nodes) {
    const PrivateRound& r = last ? s.private_rounds.back() : s.private_rounds.front();
    const double one = r.*scale * s.sharing.noise.own;  // what is shared cancels
    square += one * one;
  }
  return std::sqrt(square);
}

// The unit and the grid, the same for all: a sum of all parties' values is exact in a double, and no value reaches the
// bound but with a probability below 10⁻²⁰.
void set_units(Plan& plan, const Setting& setting) {
  double largest = 0, finest = plan.options.release_bound;
  for (const Schedule& s : plan.nodes) {
    const double rows = setting.records[static_cast<std::size_t>(s.node)];
    for (const PrivateRound& r : s.private_rounds) {
      const bool products = s.sums->final.steps() > 0 || (s.sums->shape != Shape::none && !s.sums->moments_known);
      const double bound = s.sums->final.steps() > 0 ? s.loss.gradient_bound() : s.summed_loss().gradient_bound();
      largest = std::max(largest, 2 * bound * rows + 10 * s.sharing.of_one() * r.gradient_scale);
      for (double PrivateRound::* const scale : noise_scales) {
        if (products) largest = std::max(largest, 2 * rows + 10 * s.sharing.of_one() * r.*scale);
        if (r.*scale > 0) finest = std::min(finest, s.sharing.own_of(r.*scale));
      }
    }
  }
  const double room = plan.options.release_bound / 2;
  const double unit = std::exp2(std::ceil(std::log2(largest / room)));
  const double exact = std::exp2(std::ceil(std::log2(plan.options.release_bound * setting.nodes())) - 52);
  const double grid = plan.noisy() ? std::exp2(std::floor(std::log2(0x1p-9 * finest / unit))) : exact;
  if (grid < exact)
    throw Error({.what = "sums over so many rows, with so little noise, are not exact in double arithmetic",
                 .value = number(largest) + " with noise " + number(finest),
                 .where = "option --epsilon",
                 .fix = "lower --epsilon, or use fewer rows or parties"});
  for (Schedule& s : plan.nodes) {
    s.sums->unit = unit;
    for (PrivateRound& r : s.private_rounds) r.grid = std::max(exact, std::min(grid, 0x1p-10));
  }
}

// Noise must not look like curvature: max(s√d, ⅔σ_g/c₁) under the eigenvalues of the mean of x xᵀ.
void set_floor(Plan& plan, const Setting& setting) {
  const Terms& t = *plan.nodes.front().sums;
  const double d = static_cast<double>(t.features);
  const EarlierMoments moments = setting.moments.value_or(released_moments(plan));
  const double s = moments.noise / counted_records(moments.records, t.records);
  const double g = noise_of_all(plan, &PrivateRound::gradient_scale) / t.records;
  for (Schedule& node : plan.nodes) node.sums->floor = std::max(s * std::sqrt(d), 2 * g / (3 * t.c1));
}

// Of the final round's sums over all parties: what intervals count as privacy noise.
void set_final_law(Plan& plan) {
  if (plan.nodes.front().sums->final.steps() == 0) return;
  FinalPhase final = plan.nodes.front().sums->final;
  final.noise = FinalNoise{.hessian = noise_of_all(plan, &PrivateRound::hessian_scale, true),
                           .spread = noise_of_all(plan, &PrivateRound::spread_scale, true),
                           .gradient = noise_of_all(plan, &PrivateRound::gradient_scale, true),
                           .square = noise_of_all(plan, &PrivateRound::square_scale, true)};
  for (Schedule& s : plan.nodes) s.sums->final = final;
}

}  // namespace

void price(Schedule& s) {
  std::vector<privacy::Charge> charges;
  for (std::size_t k = 0; k < s.private_rounds.size(); ++k) {
    PrivateRound& r = s.private_rounds[k];
    const bool final = r.hessian_scale > 0;
    const privacy::SumsRound sums{.gradient_bound = bound_in(s, static_cast<long>(k) + 1),
                                  .gradient_scale = r.gradient_scale,
                                  .tolerance = s.tolerance,
                                  .curvature_scale = r.curvature_scale,
                                  .curvature_tolerance = r.curvature_tolerance,
                                  .hessian_bound = final ? s.loss.curvature_bound() : 0,
                                  .hessian_scale = r.hessian_scale,
                                  .spread_scale = r.spread_scale,
                                  .square_scale = r.square_scale};
    privacy::SumsRound alone = sums;  // with this party's own noise only: everybody else's is known
    for (double* scale : {&alone.gradient_scale, &alone.curvature_scale, &alone.hessian_scale, &alone.spread_scale,
                          &alone.square_scale})
      *scale = s.sharing.own_of(*scale);
    r.charge = {.kind = "sums-gaussian",
                .mu = privacy::sums_mu(alone),
                .parameters = {{"gradient_bound", sums.gradient_bound},
                               {"gradient_scale", sums.gradient_scale},
                               {"tolerance", sums.tolerance},
                               {"curvature_scale", sums.curvature_scale},
                               {"curvature_tolerance", sums.curvature_tolerance},
                               {"diameter_at_point", s.diameter_at_point ? 1.0 : 0.0},
                               {"logistic", s.loss.kind == LossKind::logistic ? 1.0 : 0.0}}};
    if (final)
      r.charge.parameters.insert(r.charge.parameters.end(), {{"hessian_bound", sums.hessian_bound},
                                                             {"hessian_scale", sums.hessian_scale},
                                                             {"spread_scale", sums.spread_scale},
                                                             {"square_scale", sums.square_scale}});
    if (s.sharing.on()) r.charge.mu_colluders = privacy::sums_mu(sums);
    add_parameters(s.sharing, r.charge);
    r.charge = privacy::for_person(r.charge, s.rows_per_person);
    charges.push_back(r.charge);
  }
  set_epsilon(s, charges);
}

bool full_curvature_fits(const Options& o, const RowSize& size) {
  return size.features <= most_features_of_full_curvature &&
         size.parties * full_size(o, size) <= static_cast<double>(most_numbers_of_a_round);
}

bool lacks_entries(const Options& o, const RowSize& size) {
  return o.curvature == CurvatureShape::automatic && size.entries == 0 && !full_curvature_fits(o, size);
}

EarlierMoments released_moments(const Plan& plan) {
  return {.noise = noise_of_all(plan, &PrivateRound::curvature_scale), .records = plan.nodes.front().sums->records};
}

std::optional<Known> known_of(const Plan& plan) {
  const Schedule& first = plan.nodes.front();
  const LossKind kind = first.loss.kind;
  if (!first.algorithm.curved || !plan.noisy() || first.sums->features == 0) return std::nullopt;
  if (kind != LossKind::logistic && kind != LossKind::huber_hinge) return std::nullopt;
  if (first.loss.weighted()) return std::nullopt;
  if (first.sums->shape != Shape::full || first.sums->dimension() > forecast_up_to) return std::nullopt;
  Known k{.epsilon = {},
          .delta = first.delta,
          .weights = static_cast<double>(first.sums->dimension()),
          .records = first.sums->records,
          .colluders = plan.sharing().colluders,
          .fewest_colluders = 1,
          .rows_per_person = first.group()};
  for (const Schedule& s : plan.nodes) k.epsilon.push_back(s.epsilon);
  return k;
}

std::string why_no_forecast(const Plan& plan) {
  const Schedule& first = plan.nodes.front();
  if (!first.algorithm.curved || !plan.noisy() || !first.loss.classifies()) return "";
  if (first.loss.weighted()) return "no forecast: none was made for class weights, and noise grows with the largest";
  if (first.sums->shape != Shape::full) return "no forecast: none was made for the diagonal of the curvature";
  if (first.sums->dimension() <= forecast_up_to) return "";
  return "no forecast: it was compared with tasks of up to " + std::to_string(forecast_up_to) +
         " features, and here are " + std::to_string(first.sums->dimension());
}

std::string in_words(const Plan& plan) {
  const Schedule& s = plan.nodes.front();
  const PrivateRound& r = s.private_rounds.front();
  if (s.loss.kind == LossKind::squared) {
    std::string once = "one exchange of second moments and label sums";
    if (plan.noisy())
      once += "; Gaussian noise of " + short_number(std::max(r.hessian_scale, r.curvature_scale)) +
              " on the former and of " + short_number(r.gradient_scale) + " on the latter";
    return s.sums->final.steps() > 0 ? once : once + "; lambda " + short_number(s.sums->ridge + s.sums->l1);
  }
  std::string text = "slopes cut at " + short_number(s.summed_loss().plain_gradient_bound());
  if (s.loss.weighted())
    text += ", then times the weight of the class: at most " + short_number(s.loss.largest_weight());
  if (plan.noisy()) text += "; Gaussian noise of " + short_number(r.gradient_scale) + " on a sum of gradients";
  if (r.curvature_scale > 0)
    text += " and of " + short_number(r.curvature_scale) + " on second moments" +
            (s.sums->shape == Shape::diagonal ? " (diagonal)" : "");
  if (s.sharing.on())
    text += ", shared in pairs and gone in the sum but for " + short_number(s.sharing.noise.own) + " of it";
  text += "; lambda " + short_number(s.sums->ridge + s.sums->l1);
  if (s.sums->final.steps() == 0) return text;
  return text + "; neither cut nor lambda in the later half, and a final round for intervals";
}

void fill_in(Options& o, const Algorithm& a, const Setting& setting) {
  check_absent(o, a, setting.classes);
  fill_in_intervals(o, a);
  check_loss_width(o);
  if (!o.noise_scale.empty()) check_list(o.noise_scale, "noise-scale", setting.nodes());
  const bool budget = !o.epsilon.empty();
  if (o.noise == Noise::automatic) o.noise = budget || !o.noise_scale.empty() ? Noise::gaussian : Noise::none;
  if (!o.delta) o.delta = o.noise == Noise::gaussian ? default_delta(setting.records) : 0;
  o.noise_on = Place::gradient;
  o.weighting = Weighting::rows;
  if (o.rounds == 0) o.rounds = a.curved ? planned_rounds : planned_gd_rounds;
  if (o.average == Average::automatic) o.average = o.noise == Noise::none ? Average::no : Average::yes;
  if (!o.regularization) o.regularization = planned_ridge * o.loss_weight * setting.nodes();
  check_size(o, a, setting);
  if (a.curved && !o.curvature_share)
    o.curvature_share = o.loss == LossKind::squared ? planned_share_of_squares : planned_share;
  const problem::Loss loss = loss_of(o, setting.classes);
  if (!o.clip)
    o.clip = !cut_pays(loss) || o.intervals || o.noise == Noise::none ? loss.plain_gradient_bound()
                                                                      : planned_clip(o, a, setting);
  o.clip = std::min(*o.clip, loss.plain_gradient_bound());
  if (o.diameter == Diameter::automatic)
    o.diameter = budget && loss.kind == LossKind::logistic ? Diameter::at_point : Diameter::worst;
}

Plan make_plan(const Options& o, const Algorithm& a, const Setting& setting) {
  Plan plan{.options = o, .average = false};
  for (int i = 0; i < setting.nodes(); ++i) plan.nodes.push_back(outline(o, a, setting, i));
  if (plan.noisy()) {
    for (Schedule& s : plan.nodes) {
      if (!o.epsilon.empty()) {
        set_noise(s, o, privacy::gdp_mu(of_node(o.epsilon, s.node), s.delta) / static_cast<double>(s.group()));
      } else {  // μ such that a gradient has the given noise
        const double each = (2 * s.summed_loss().gradient_bound() + 2 * s.tolerance) / of_node(o.noise_scale, s.node);
        const double whole = s.sums->main_rounds() > 0 ? static_cast<double>(s.sums->main_rounds()) / main_share(o) /
                                                             (1 - share_of_curvature(s, o))
                                                       : 1 / final_shares(o).gradient;
        set_noise(s, o, each * std::sqrt(whole));
      }
    }
    if (plan.sharing().on()) equalise(plan);
  }
  for (Schedule& s : plan.nodes) {
    if (plan.noisy()) {
      price(s);
      expects(o.epsilon.empty() || s.epsilon <= of_node(o.epsilon, s.node), "a calibrated run stays within its budget");
      continue;
    }
    for (PrivateRound& r : s.private_rounds) r.charge = no_noise();
    s.epsilon = s.epsilon_all_others = no_noise().epsilon;
  }
  set_units(plan, setting);
  set_floor(plan, setting);
  set_final_law(plan);
  return plan;
}

}  // namespace parley::algorithm::newton
