#include "parley/algorithm/planner.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "parley/algorithm/rules.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/privacy/gaussian.h"

namespace parley::algorithm {
namespace {

constexpr double noise_to_curvature = 0.75;  // σ/κ
constexpr double damping_to_curvature = 8;   // γ/κ
constexpr double default_delta = 1e-5;
constexpr long linear_rounds =
    1000;  // a gradient step does less than a minimum, and the noise after averaging is the same
constexpr double default_solution_bound = 10;  // D_w

// The standard deviation of a coordinate of the noise in the gradient, before κ is chosen.
double gradient_noise(const Options& o, const Setting& setting, int node, double rounds) {
  const double a0 = record_weight(o, setting, node) * problem::loss_named(o.loss, o.loss_width).gradient_bound();
  const double epsilon = o.epsilon.size() == 1 ? o.epsilon[0] : o.epsilon[static_cast<std::size_t>(node)];
  if (o.noise == "gaussian") return 2 * a0 * std::sqrt(rounds) / privacy::gdp_mu(epsilon, *o.delta);
  // Gamma noise of rate α = ε_k/(2a₀): E‖b‖² = d(d+1)/α², so a coordinate has variance (d+1)/α².
  const double d = static_cast<double>(std::max(setting.features, 1L) * (o.loss == "softmax" ? setting.classes : 1));
  return std::sqrt(d + 1) * 2 * a0 * rounds / epsilon;
}

}  // namespace

double l1_share(const Options& o) {
  return o.regularizer == "l2" ? 0 : o.regularizer == "l1" ? 1 : o.l1_share;
}

double record_weight(const Options& o, const Setting& setting, int node) {
  const double all = std::accumulate(setting.records.begin(), setting.records.end(), 0.0);
  return o.weighting == "rows" ? o.loss_weight * setting.nodes() / all
                               : o.loss_weight / setting.records[static_cast<std::size_t>(node)];
}

Options fill_in(const Options& given, const Setting& setting) {
  Options o = given;
  const Algorithm& a = algorithm_named(o.algorithm);
  const bool budget = !o.epsilon.empty();
  if (budget) check_list(o.epsilon, "epsilon", setting.nodes());
  if (o.noise == "auto")
    o.noise = budget || o.iteration_epsilon ? (o.delta && *o.delta == 0 ? "gamma" : "gaussian")
              : !a.noisy                    ? "none"
              : a.star || a.linear          ? "gaussian"
                                            : "gamma";
  if (budget && (o.noise == "none" || !o.noise_rate.empty() || !o.noise_scale.empty()))
    throw Error({.what = "a budget and the noise itself are both given",
                 .value = o.noise == "none" ? "--noise none" : "--noise-rate or --noise-scale",
                 .where = "option --epsilon",
                 .fix = "give --epsilon, and the noise follows; or give the noise, and epsilon is computed"});
  if ((budget || o.noise == "gaussian") && std::ranges::any_of(o.noise_rate_growth, [](double q) { return q != 1; }))
    throw Error({.what = "the noise is the same in all rounds under a budget and for Gaussian noise",
                 .where = "option --noise-rate-growth",
                 .fix = "leave it out"});
  if (o.noise == "gaussian" && a.on_penalty && o.loss != "logistic")
    throw Error({.what = "Gaussian noise in the penalty is proved for the logistic loss only",
                 .value = o.loss,
                 .where = "option --loss",
                 .fix = "use --noise gamma, or --algorithm m-admm with --noise-on output"});
  if (o.iteration_epsilon && (!(a.star || a.linear) || budget || o.noise != "gaussian" || !o.noise_scale.empty()))
    throw Error({.what = "--iteration-epsilon sets the Gaussian noise of star-pvp, dp-admm and linear-admm, and alone",
                 .value = a.name + (budget ? " with --epsilon" : ", --noise " + o.noise),
                 .where = "option --iteration-epsilon",
                 .fix = "give --epsilon for the whole run instead"});
  if (o.iteration_delta && !o.iteration_epsilon)
    throw Error({.what = "--iteration-delta goes with --iteration-epsilon",
                 .where = "option --iteration-delta",
                 .fix = "give both, or --epsilon and --delta for the whole run"});
  if (o.iteration_epsilon && !o.iteration_delta) o.iteration_delta = 1e-3;
  if (o.noise == "gaussian" && !budget && !o.iteration_epsilon && o.noise_scale.empty())
    throw Error({.what = "Gaussian noise needs its size",
                 .where = "option --noise gaussian",
                 .fix = "give --epsilon (and --delta), or --noise-scale"});
  if (o.noise == "gaussian" && !o.noise_rate.empty())
    throw Error({.what = "a rate belongs to gamma noise",
                 .where = "option --noise-rate",
                 .fix = "use --noise-scale with --noise gaussian"});
  if (o.noise == "gamma" && !o.noise_scale.empty())
    throw Error({.what = "a scale belongs to Gaussian noise",
                 .where = "option --noise-scale",
                 .fix = "use --noise-rate with --noise gamma"});
  if (o.noise == "gaussian" && o.delta && *o.delta == 0)
    throw Error({.what = "Gaussian noise has no guarantee with delta = 0",
                 .value = "0",
                 .allowed = "> 0",
                 .where = "option --delta",
                 .fix = "use --noise gamma"});
  if (!o.delta) o.delta = o.iteration_delta ? *o.iteration_delta : o.noise == "gaussian" ? default_delta : 0;
  if (a.linear ? o.noise_on != "auto" && o.noise_on != "gradient" : o.noise_on == "gradient")
    throw Error({.what = a.linear ? a.name + " has its noise on the gradient"
                                  : a.name + " minimises, and has no gradient to put noise on",
                 .value = o.noise_on,
                 .allowed = a.linear ? "auto, gradient" : "auto, objective, output",
                 .where = "option --noise-on",
                 .fix = "leave it out"});
  if (a.linear) o.noise_on = "gradient";
  if (a.on_output && o.noise_on == "objective")
    throw Error({.what = a.name + " puts its noise on the output by definition (" + a.source + ")",
                 .value = "objective",
                 .allowed = "auto, output",
                 .where = "option --noise-on",
                 .fix = a.star ? "leave it out" : "use --algorithm dvp"});
  if (a.on_output) o.noise_on = "output";
  if (o.noise_on == "auto")
    o.noise_on =
        (o.noise == "gaussian" && o.loss != "logistic" && !a.on_penalty) || o.loss == "softmax" || o.regularizer != "l2"
            ? "output"
            : "objective";
  if (o.diameter == "auto") o.diameter = a.linear && budget && o.loss == "logistic" ? "at-point" : "worst";
  if (o.rounds == 0) o.rounds = !budget || a.recycled ? 50 : a.linear ? linear_rounds : 25;
  if (o.average == "auto") o.average = budget ? "yes" : "no";
  if (o.noise == "gamma" && !budget && o.noise_rate.empty()) o.noise_rate = {0.5};
  if (o.penalty.empty() && !budget) o.penalty = {1};
  if (!o.damping && !budget) o.damping = 0.5;
  if (a.linear && o.step_size == "auto") o.step_size = o.loss == "hinge" || o.regularizer != "l2" ? "convex" : "smooth";
  if (a.linear && !o.solution_bound) o.solution_bound = default_solution_bound;
  if (o.penalty.empty()) {
    const auto rounds = static_cast<double>(private_rounds(a, o.rounds));
    for (int i = 0; i < setting.nodes(); ++i) {  // κ_i = σ_i/0.75 = ρ/N + 2 η_i V_i
      const double kappa = gradient_noise(o, setting, i, rounds) / noise_to_curvature;
      const double share = (1 - l1_share(o)) * o.regularization / setting.nodes();
      o.penalty.push_back(std::max(kappa - share, 0.01 * kappa) /
                          (a.star ? 1 : 2 * setting.degree[static_cast<std::size_t>(i)]));
    }
    if (a.star) o.penalty = {*std::ranges::max_element(o.penalty)};
    if (std::ranges::all_of(o.penalty, [&](double p) { return p == o.penalty[0]; })) o.penalty.resize(1);
  }
  if (!o.damping) {  // a recycled step repeats the noise of the round before: held back against κ
    double most = 0;
    for (int i = 0; i < setting.nodes(); ++i)
      most = std::max(most, 2 * (o.penalty.size() == 1 ? o.penalty[0] : o.penalty[static_cast<std::size_t>(i)]) *
                                setting.degree[static_cast<std::size_t>(i)]);
    o.damping = damping_to_curvature * most;
  }
  return o;
}

}  // namespace parley::algorithm
