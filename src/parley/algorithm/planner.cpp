#include "parley/algorithm/planner.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "parley/algorithm/newton/newton_plan.h"
#include "parley/algorithm/rules.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/privacy/gaussian.h"

namespace parley::algorithm {
namespace {

using problem::LossKind;

// ---- which algorithm

// An algorithm between peers, and the one that takes its place around a trainer.
struct Pair {
  const char *peers, *trainer;
  std::string of(bool around_trainer) const { return around_trainer ? trainer : peers; }
};
constexpr Pair curved{"newton", "newton"}, linear{"linear-admm", "dp-admm"}, on_output{"star-pvp", "star-pvp"},
    recycled{"mr-admm", "star-pvp"};

// Options that belong to some algorithms only, and the one to take. In this order: the rarer decide.
struct Owned {
  const char* option;
  Pair owner;
};
constexpr std::array owned = {Owned{"clip", curved},
                              Owned{"curvature", curved},
                              Owned{"curvature-share", curved},
                              Owned{"sensitivity", on_output},
                              Owned{"step-size", linear},
                              Owned{"solution-bound", linear},
                              Owned{"iteration-epsilon", linear},
                              Owned{"penalty", recycled},
                              Owned{"penalty-growth", recycled},
                              Owned{"penalty-growth-rounds", recycled},
                              Owned{"dual-step", recycled},
                              Owned{"damping", recycled},
                              Owned{"damping-growth", recycled},
                              Owned{"noise-rate", recycled},
                              Owned{"noise-rate-growth", recycled},
                              Owned{"tolerance", recycled},
                              Owned{"bound", recycled},
                              Owned{"start", recycled}};

// Words of other options that newton does not have.
std::string word_of_papers(const Options& o) {
  if (o.noise == Noise::gamma) return "--noise gamma";
  if (o.noise_on == Place::objective || o.noise_on == Place::output) return "--noise-on " + o.noise_on.text;
  if (o.weighting == Weighting::equal) return "--weighting equal";
  return "";
}

std::optional<Selected> by_option(const Options& o, bool trainer) {
  Options given = o, defaults;
  const auto now = option_rows(given), before = option_rows(defaults);
  for (const auto& [option, owner] : owned)
    if (option_value(find_option(now, option, "")) != option_value(find_option(before, option, "")))
      return Selected{owner.of(trainer), "--" + std::string(option) + " belongs to it"};
  if (const std::string words = word_of_papers(o); !words.empty())
    return Selected{recycled.of(trainer), words + " belongs to it"};
  return std::nullopt;
}

// ---- what is left open

constexpr double noise_to_curvature = 0.75;  // σ/κ
constexpr double damping_to_curvature = 8;   // γ/κ
constexpr long linear_rounds =
    1000;  // a gradient step does less than a minimum, and the noise after averaging is the same
constexpr double default_solution_bound = 10;  // D_w
// s² + h p² against v (shared_noise.h). In a sum over all parties what is shared cancels, however large. In an iterate it
// stays until iterates are averaged, and the next gradient is taken there. At epsilon = 0.5 m = 4 lost 0.5 to 1.0 points
// less than own noise, with 5 and 20 parties, and m = 100 0.4 to 3.5 points more than m = 4
// (docs/check/frontier-tables.md; bench/iterates.cpp).
constexpr double in_sums = 100, in_iterates = 4;

// The standard deviation of a coordinate of the noise in the gradient, before κ is chosen.
double gradient_noise(const Options& o, const Setting& setting, int node, double rounds) {
  const double a0 = record_weight(o, setting, node) * loss_of(o, setting.classes).gradient_bound();
  const double epsilon = of_node(o.epsilon, node), group = static_cast<double>(std::max(1L, setting.rows_per_person));
  if (o.noise == Noise::gaussian) return group * 2 * a0 * std::sqrt(rounds) / privacy::gdp_mu(epsilon, *o.delta);
  // Gamma noise of rate α = ε_k/(2a₀): E‖b‖² = d(d+1)/α², so a coordinate has variance (d+1)/α².
  const double d = static_cast<double>(std::max(setting.features, 1L) * loss_of(o, setting.classes).scores());
  return group * std::sqrt(d + 1) * 2 * a0 * rounds / epsilon;
}

Noise usual_noise(const Options& o, const Algorithm& a) {
  if (!o.epsilon.empty() || o.iteration_epsilon) return o.delta && *o.delta == 0 ? Noise::gamma : Noise::gaussian;
  if (!a.noisy) return Noise::none;
  return a.star || a.linear ? Noise::gaussian : Noise::gamma;
}

// What is given of the budget and of the noise fits together.
void check_noise(const Options& o, const Algorithm& a) {
  const bool budget = !o.epsilon.empty();
  if (budget && (o.noise == Noise::none || !o.noise_rate.empty() || !o.noise_scale.empty()))
    throw Error({.what = "a budget and the noise itself are both given",
                 .value = o.noise == Noise::none ? "--noise none" : "--noise-rate or --noise-scale",
                 .where = "option --epsilon",
                 .fix = "give --epsilon, and the noise follows; or give the noise, and epsilon is computed"});
  if ((budget || o.noise == Noise::gaussian) &&
      std::ranges::any_of(o.noise_rate_growth, [](double q) { return q != 1; }))
    throw Error({.what = "the noise is the same in all rounds under a budget and for Gaussian noise",
                 .where = "option --noise-rate-growth",
                 .fix = "leave it out"});
  if (o.noise == Noise::gaussian && a.on_penalty && o.loss != LossKind::logistic)
    throw Error({.what = "Gaussian noise in the penalty is proved for the logistic loss only",
                 .value = o.loss.text,
                 .where = "option --loss",
                 .fix = "use --noise gamma, or --algorithm m-admm with --noise-on output"});
  if (o.iteration_epsilon && (!(a.star || a.linear) || budget || o.noise != Noise::gaussian || !o.noise_scale.empty()))
    throw Error({.what = "--iteration-epsilon sets the Gaussian noise of star-pvp, dp-admm and linear-admm, and alone",
                 .value = a.name + (budget ? " with --epsilon" : ", --noise " + o.noise.text),
                 .where = "option --iteration-epsilon",
                 .fix = "give --epsilon for the whole run instead"});
  if (o.iteration_delta && !o.iteration_epsilon)
    throw Error({.what = "--iteration-delta goes with --iteration-epsilon",
                 .where = "option --iteration-delta",
                 .fix = "give both, or --epsilon and --delta for the whole run"});
}

// The noise has a size, in the unit that belongs to it.
void check_noise_size(const Options& o) {
  if (o.noise == Noise::gaussian && o.epsilon.empty() && !o.iteration_epsilon && o.noise_scale.empty())
    throw Error({.what = "Gaussian noise needs its size",
                 .where = "option --noise gaussian",
                 .fix = "give --epsilon (and --delta), or --noise-scale"});
  if (o.noise == Noise::gaussian && !o.noise_rate.empty())
    throw Error({.what = "a rate belongs to gamma noise",
                 .where = "option --noise-rate",
                 .fix = "use --noise-scale with --noise gaussian"});
  if (o.noise == Noise::gamma && !o.noise_scale.empty())
    throw Error({.what = "a scale belongs to Gaussian noise",
                 .where = "option --noise-scale",
                 .fix = "use --noise-rate with --noise gamma"});
  if (o.noise == Noise::gaussian && o.delta && *o.delta == 0)
    throw Error({.what = "Gaussian noise has no guarantee with delta = 0",
                 .value = "0",
                 .allowed = "> 0",
                 .where = "option --delta",
                 .fix = "use --noise gamma"});
}

void check_place(const Options& o, const Algorithm& a) {
  if (a.linear ? o.noise_on != Place::automatic && o.noise_on != Place::gradient : o.noise_on == Place::gradient)
    throw Error({.what = a.linear ? a.name + " has its noise on the gradient"
                                  : a.name + " minimises, and has no gradient to put noise on",
                 .value = o.noise_on.text,
                 .allowed = a.linear ? "auto, gradient" : "auto, objective, output",
                 .where = "option --noise-on",
                 .fix = "leave it out"});
  if (a.on_output && o.noise_on == Place::objective)
    throw Error({.what = a.name + " puts its noise on the output by definition (" + a.source + ")",
                 .value = "objective",
                 .allowed = "auto, output",
                 .where = "option --noise-on",
                 .fix = a.star ? "leave it out" : "use --algorithm dvp"});
}

Place usual_place(const Options& o, const Algorithm& a) {
  if (a.linear) return Place::gradient;
  if (a.on_output) return Place::output;
  const bool gaussian_proved = o.loss == LossKind::logistic && o.class_weight == ClassWeight::none;
  const bool in_objective = o.loss != LossKind::softmax && o.regularizer == Regularizer::l2 &&
                            (o.noise != Noise::gaussian || gaussian_proved || a.on_penalty);
  return in_objective ? Place::objective : Place::output;
}

// What belongs to sums over rows alone.
void check_sums_alone(const Options& o, const Algorithm& a) {
  if (o.intervals || o.loss == LossKind::squared)
    throw Error(
        {.what = "coefficients with intervals, and the squared loss, need sums over rows: " + a.name +
                 " exchanges iterates",
         .value = a.name,
         .allowed = "newton",
         .where = o.intervals ? "option --intervals" : "option --loss",
         .fix = o.intervals ? "leave it out, or use --algorithm newton" : "use --loss huber, or --algorithm newton"});
  const std::string option = o.clip                                     ? "clip"
                             : o.curvature_share                        ? "curvature-share"
                             : o.curvature != CurvatureShape::automatic ? "curvature"
                                                                        : "";
  if (!option.empty())
    throw Error({.what = a.name + " exchanges iterates, not sums over rows",
                 .where = "option --" + option,
                 .fix = "leave it out, or use --algorithm newton"});
}

void fill_in_usual(Options& o, const Algorithm& a, const Setting& setting) {
  const bool budget = !o.epsilon.empty();
  const bool smooth = o.loss != LossKind::hinge && o.regularizer == Regularizer::l2;
  if (o.iteration_epsilon && !o.iteration_delta) o.iteration_delta = 1e-3;
  if (!o.delta)
    o.delta = o.iteration_delta ? *o.iteration_delta : o.noise == Noise::gaussian ? default_delta(setting.records) : 0;
  if (o.noise_on == Place::automatic) o.noise_on = usual_place(o, a);
  if (!o.regularization) o.regularization = usual_regularization;
  if (o.weighting == Weighting::automatic) o.weighting = Weighting::equal;
  if (o.diameter == Diameter::automatic)
    o.diameter = a.linear && budget && o.loss == LossKind::logistic ? Diameter::at_point : Diameter::worst;
  if (o.rounds == 0) o.rounds = !budget || a.recycled ? 50 : a.linear ? linear_rounds : 25;
  if (o.average == Average::automatic) o.average = budget ? Average::yes : Average::no;
  if (o.noise == Noise::gamma && !budget && o.noise_rate.empty()) o.noise_rate = {0.5};
  if (o.penalty.empty() && !budget) o.penalty = {1};
  if (!o.damping && !budget) o.damping = 0.5;
  if (a.linear && o.step_size == StepSize::automatic) o.step_size = smooth ? StepSize::smooth : StepSize::convex;
  if (a.linear && !o.solution_bound) o.solution_bound = default_solution_bound;
}

// κ_i = σ_i/0.75 = ρ/N + 2 η_i V_i
std::vector<double> planned_penalty(const Options& o, const Algorithm& a, const Setting& setting) {
  const auto rounds = static_cast<double>(private_rounds(a, o.rounds));
  const double share = (1 - l1_share(o)) * *o.regularization / setting.nodes();
  const double own = sharing_of(o, setting.nodes()).noise.own;  // the rest cancels
  std::vector<double> penalty;
  for (int i = 0; i < setting.nodes(); ++i) {
    const double kappa = gradient_noise(o, setting, i, rounds) * own / noise_to_curvature;
    penalty.push_back(std::max(kappa - share, 0.01 * kappa) /
                      (a.star ? 1 : 2 * setting.degree[static_cast<std::size_t>(i)]));
  }
  if (a.star) penalty = {*std::ranges::max_element(penalty)};
  if (std::ranges::all_of(penalty, [&](double p) { return p == penalty[0]; })) penalty.resize(1);
  return penalty;
}

// A recycled step repeats the noise of the round before: held back against κ.
double planned_damping(const Options& o, const Setting& setting) {
  double most = 0;
  for (int i = 0; i < setting.nodes(); ++i)
    most = std::max(most, 2 * of_node(o.penalty, i) * setting.degree[static_cast<std::size_t>(i)]);
  return damping_to_curvature * most;
}

}  // namespace

Selected select_algorithm(const Options& o, bool trainer, const RowSize& size) {
  if (o.algorithm != auto_algorithm) return {.algorithm = algorithm_named(o.algorithm).name, .because = ""};
  if (o.intervals) return {curved.of(false), "--intervals belongs to it"};
  if (o.loss == LossKind::squared) return {curved.of(false), "it alone takes the squared loss"};
  if (o.loss == LossKind::hinge)
    return {linear.of(trainer), "the plain hinge has a kink, and it needs a subgradient only"};
  if (const auto owner = by_option(o, trainer)) return *owner;
  if (trainer) return {on_output.of(true), "a trainer takes part"};
  if (o.epsilon.empty()) return {recycled.of(false), "there is no --epsilon to plan for"};
  if (o.delta && *o.delta == 0) return {recycled.of(false), "delta = 0 needs noise that newton does not have"};
  if (o.colluders) return {curved.of(false), "the noise that parties share cancels in its sums"};
  if (o.loss == LossKind::softmax) return {recycled.of(false), "with several classes it loses less than newton"};
  if (newton::lacks_entries(o, size))
    return {recycled.of(false), "newton does not release all second moments of " + std::to_string(size.features) +
                                    " features, and no schema says how many entries a row has at most"};
  return {curved.of(false), "it loses least at a given budget"};
}

double default_delta(const std::vector<double>& records) {
  constexpr double most = 1e-5;
  const double allowed = 0.1 / *std::ranges::max_element(records);
  if (!(allowed < most)) return most;
  const double power = std::floor(std::log10(allowed));
  const double digit = std::floor(allowed / std::pow(10, power) * (1 + 1e-12));
  return std::stod(std::to_string(static_cast<int>(digit)) + "e" + std::to_string(static_cast<int>(power)));
}

privacy::Sharing sharing_of(const Options& o, int nodes) {
  if (!o.colluders || nodes < 2) return {.parties = nodes, .colluders = nodes - 1};
  const auto colluders = static_cast<int>(*o.colluders);
  return {.parties = nodes,
          .colluders = colluders,
          .noise =
              privacy::shared_noise_for(nodes, colluders, algorithm_named(o.algorithm).linear ? in_iterates : in_sums)};
}

problem::Loss loss_of(const Options& o, int classes) {
  return {.kind = o.loss, .width = o.loss_width, .classes = classes, .class_weights = class_weights(o, classes)};
}

double l1_share(const Options& o) {
  return o.regularizer == Regularizer::l2 ? 0 : o.regularizer == Regularizer::l1 ? 1 : o.l1_share;
}

double record_weight(const Options& o, const Setting& setting, int node) {
  const double all = std::accumulate(setting.records.begin(), setting.records.end(), 0.0);
  return o.weighting == Weighting::rows ? o.loss_weight * setting.nodes() / all
                                        : o.loss_weight / setting.records[static_cast<std::size_t>(node)];
}

namespace {

// A budget so large that it promises nothing is a slip of the pen, or a wish for --noise none.
void check_budget_protects(const Options& o) {
  constexpr double most = 10'000;
  const auto large = std::ranges::find_if(o.epsilon, [](double e) { return e > most; });
  if (large == o.epsilon.end()) return;
  throw Error({.what = "this budget protects nobody: the odds of any statement about a record may change by a factor "
                       "of e^" +
                       number(*large),
               .value = "epsilon = " + number(*large),
               .allowed = "> 0 and <= " + number(most),
               .where = "option --epsilon",
               .fix = "epsilon = 1 is usual, and 10 is a factor of 22,000; to run without privacy say --noise none"});
}

}  // namespace

Options fill_in(const Options& given, const Setting& setting) {
  Options o = given;
  const Algorithm& a = algorithm_named(o.algorithm);
  if (!o.epsilon.empty()) check_list(o.epsilon, "epsilon", setting.nodes());
  check_class_weight(o, setting.classes);
  check_budget_protects(o);
  if (a.sums) {
    check_colluders(o, a, setting.nodes());
    newton::fill_in(o, a, setting);
    check_noise(o, a);
    check_noise_size(o);
    return o;
  }
  check_sums_alone(o, a);
  if (o.noise == Noise::automatic) o.noise = usual_noise(o, a);
  check_noise(o, a);
  check_noise_size(o);
  check_colluders(o, a, setting.nodes());
  check_place(o, a);
  fill_in_usual(o, a, setting);
  if (o.penalty.empty()) o.penalty = planned_penalty(o, a, setting);
  if (!o.damping) o.damping = planned_damping(o, setting);
  return o;
}

}  // namespace parley::algorithm
