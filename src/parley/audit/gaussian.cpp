#include "parley/audit/gaussian.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "parley/audit/statistics.h"
#include "parley/base/error.h"
#include "parley/privacy/gaussian.h"

namespace parley::audit {
namespace {

constexpr double alpha = 0.001;  // confidence 99.9 %
constexpr double rho = 1e-6;     // so small that it does not pull the node away from its start

double claimed(const Transcript& transcript) {
  std::vector<double> mus;
  for (const Message& m : transcript) mus.push_back(m.mu);
  return privacy::gdp_compose(mus);
}

}  // namespace

Scene make_gaussian_scene(const GaussianOptions& g) {
  const auto b = static_cast<double>(g.records);
  const double weight = 1 / b;
  const algorithm::Algorithm& a = algorithm::algorithm_named(g.algorithm);
  const auto rounds = static_cast<double>(algorithm::private_rounds(a, g.rounds));
  const long of_person = std::max(1L, g.rows_per_person);
  const double linear = 2 * weight * static_cast<double>(of_person) * std::sqrt(rounds) / g.mu;  // σ in the objective
  algorithm::Options o;
  o.algorithm = g.algorithm;
  o.rounds = g.rounds;
  o.loss_weight = 1;
  o.regularization = rho;
  o.noise = algorithm::Noise::gaussian;
  o.noise_on = g.noise_on;
  o.penalty = {g.ratio > 0 ? (linear / g.ratio - rho / 2) / 2 : 2};
  o.penalty_growth = {g.penalty_growth};
  const double kappa = rho / 2 + 2 * o.penalty[0];
  // pp scales its noise by the penalty: 2ηV·scale = σ.
  o.noise_scale = {g.noise_on == algorithm::Place::output ? linear / kappa
                   : a.on_penalty                         ? linear / (2 * o.penalty[0])
                                                          : linear};
  if (g.epsilon > 0) {
    o.penalty.clear();
    o.noise_scale.clear();
    o.epsilon = {g.epsilon};
    o.delta = 1e-5;
  }
  const Vector start{{g.across, -g.depth}};
  return {
      .schedule =
          algorithm::make_plan(o, {.degree = {1, 1}, .records = {b, b}, .rows_per_person = g.rows_per_person}).nodes[0],
      .rows = opposed_rows(g.records, g.tilt, 1, of_person),
      .start = start,
      .neighbour = {start}};
}

GaussianVerdict examine_gaussian(const Scene& scene, const Mechanism& mechanism, long runs, std::uint64_t seed) {
  const Observed o = observe(scene, mechanism, claimed, runs, seed, 1);
  expects(o.claim > 0, "Gaussian charges");
  GaussianVerdict verdict;
  verdict.claim = o.claim;
  verdict.free_residual = o.free_residual;
  double best = -std::numeric_limits<double>::infinity();
  for (const Statistic& statistic : statistics()) {
    const MuCut cut = choose_mu_cut(o.values(statistic, 0, true), o.values(statistic, 1, true), alpha);
    if (cut.mu <= best) continue;
    best = cut.mu;
    verdict.statistic = statistic.name;
    const std::vector<double> d = o.values(statistic, 0, false), other = o.values(statistic, 1, false);
    verdict.lower_bound = std::max(0.0, mu_lower_bound(cut.threshold, d, other, alpha));
    verdict.estimate = mu_lower_bound(cut.threshold, d, other, 1);
  }
  return verdict;
}

double Profile::mass(int world) const {
  double sum = 0;
  for (const auto& cell : cells) sum += cell[static_cast<std::size_t>(world)];
  return sum;
}

double Profile::delta(double epsilon) const {
  const double e = std::exp(epsilon);
  double forward = 0, backward = 0;
  for (const auto& [d, other] : cells) {
    forward += std::max(0.0, d - e * other);
    backward += std::max(0.0, other - e * d);
  }
  return std::max(forward, backward);
}

// In units of σ/κ around the minimum without rows, which rows move by at most a₀ B/κ; the Hessian only narrows the
// laws. The rows lie all but along the first axis, and along the second the laws are all but Gaussian, for which sums
// over a grid of half a standard deviation are exact to 10⁻³⁰.
Profile exact_profile(const Scene& scene, int steps) {
  const algorithm::PrivateRound& now = scene.schedule.private_rounds.front();
  expects(scene.schedule.noise == algorithm::Noise::gaussian && scene.schedule.place == algorithm::Place::objective,
          "Gaussian noise in the objective");
  const double scale = now.objective_scale, unit = scale / now.strong_convexity;
  const double shift = scene.schedule.weight * static_cast<double>(scene.rows[0].count()) / scale;
  const Vector middle = now.penalty / now.strong_convexity * (scene.start + scene.neighbour_at(0));
  const double reach = 9 + shift, wide = 2 * reach / steps, tall = 0.5;
  const double log_cell = std::log(wide * tall * unit * unit / (2 * std::numbers::pi * scale * scale));
  Profile profile;
  for (int i = 0; i < steps; ++i)
    for (double y = -9 - shift; y <= 9 + shift; y += tall) {
      const Vector f = middle + unit * Vector{{-reach + (i + 0.5) * wide, y}};
      const Evidence e = weigh(scene, {{.round = 1, .received = scene.neighbour_at(0), .value = f}});
      profile.cells.push_back({std::exp(e.log_density[0] + log_cell), std::exp(e.log_density[1] + log_cell)});
    }
  return profile;
}

Excess largest_excess(const Profile& profile, double claim) {
  Excess worst;
  for (int k = 0; k <= 40; ++k) {
    const double epsilon = 0.1 * k * claim, delta = profile.delta(epsilon);
    const double ratio = delta / privacy::gdp_delta(claim, epsilon);
    if (ratio > worst.ratio) worst = {.ratio = ratio, .epsilon = epsilon, .delta = delta};
  }
  return worst;
}

}  // namespace parley::audit
