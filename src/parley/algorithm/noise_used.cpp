#include "parley/algorithm/noise_used.h"

#include <cmath>

#include "parley/algorithm/newton/newton_plan.h"
#include "parley/algorithm/pricing.h"
#include "parley/base/error.h"
#include "parley/base/text.h"

namespace parley::algorithm {
namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& value, const std::string& allowed,
                         const std::string& option) {
  throw Error({.what = what,
               .value = value,
               .allowed = allowed,
               .where = "option --" + option,
               .fix = "copy the line from \"How to check\" of the run's report"});
}

// s² and p² such that √v = 1: a level is then the noise given everybody else's, and own_of(level) a party's own.
privacy::Sharing sharing_with(const PairNoise& pairs, int parties) {
  const double v = privacy::conditional_variance(parties, pairs.colluders, {.own = 1, .pair = pairs.over_own});
  const double own = 1 / std::sqrt(v);
  return {.parties = parties, .colluders = pairs.colluders, .noise = {.own = own, .pair = pairs.over_own * own}};
}

// √v of a party's own noise, never above it.
double given_others(const privacy::Sharing& sharing, double own) {
  return sharing.on() ? own / sharing.noise.own * (1 - 4e-16) : own;
}

void check_pairs(const Plan& plan, const PairNoise& pairs) {
  const auto parties = static_cast<int>(plan.nodes.size());
  const Algorithm& a = plan.nodes.front().algorithm;
  if (pairs.colluders < 1 || pairs.colluders > parties - 2)
    refuse("noise that pairs share protects where at least two parties do not pool what they know",
           std::to_string(pairs.colluders) + " of " + std::to_string(parties), "1 to " + std::to_string(parties - 2),
           "colluders");
  if ((!a.sums && !a.linear) || plan.nodes.front().noise != Noise::gaussian)
    refuse("noise that pairs share is Gaussian, on sums or on gradients", a.name, "newton, dp-gd, dp-admm, linear-admm",
           "noise-pair");
}

void check_fits(const Schedule& s, const NoiseUsed& used) {
  if (used.rounds.size() != s.private_rounds.size())
    refuse("one number for each private round", std::to_string(used.rounds.size()),
           std::to_string(s.private_rounds.size()), "noise-rounds");
  const auto check = [](bool released, double noise, const char* option) {
    if (released != (noise > 0))
      refuse(released ? "this plan releases them, and their noise is missing" : "this plan does not release them",
             number(noise), released ? "> 0" : "none", option);
  };
  const PrivateRound &first = s.private_rounds.front(), &last = s.private_rounds.back();
  check(first.curvature_scale > 0, used.moments, "noise-moments");
  check(last.hessian_scale > 0, used.hessian, "noise-hessian");
  check(last.spread_scale > 0, used.spread, "noise-spread");
  check(last.square_scale > 0, used.square, "noise-square");
}

void price_sums(Schedule& s, const NoiseUsed& used) {
  for (std::size_t k = 0; k < used.rounds.size(); ++k)
    s.private_rounds[k].gradient_scale = given_others(s.sharing, used.rounds[k]);
  s.private_rounds.front().curvature_scale = given_others(s.sharing, used.moments);
  PrivateRound& last = s.private_rounds.back();
  last.hessian_scale = given_others(s.sharing, used.hessian);
  last.spread_scale = given_others(s.sharing, used.spread);
  last.square_scale = given_others(s.sharing, used.square);
  newton::price(s);
}

void price_iterates(Schedule& s, const NoiseUsed& used) {
  std::vector<double> levels;
  std::vector<privacy::Charge> charges;
  s.verified_only = false;
  for (std::size_t k = 0; k < used.rounds.size(); ++k) {
    levels.push_back(given_others(s.sharing, used.rounds[k]));
    price(s.private_rounds[k], s, levels[k]);
    charges.push_back(s.private_rounds[k].charge);
  }
  set_epsilon(s, charges);
  s.epsilon_paper.reset();
  s.epsilon_paper_absent.clear();
  price_as_printed(s, levels);
}

}  // namespace

double noise_level(const Schedule& s, std::size_t k) {
  const PrivateRound& r = s.private_rounds[k];
  const bool gamma = s.noise == Noise::gamma;
  if (s.place == Place::output) return gamma ? r.output_rate : r.output_scale;
  if (s.place == Place::gradient) return gamma ? r.gradient_rate : r.gradient_scale;
  const double linear = s.algorithm.on_penalty ? s.curvature_of(r.penalty) : 1;
  return gamma ? r.objective_rate * linear : r.objective_scale / linear;
}

NoiseUsed noise_used(const Schedule& s) {
  NoiseUsed used;
  for (std::size_t k = 0; k < s.private_rounds.size(); ++k) used.rounds.push_back(s.sharing.own_of(noise_level(s, k)));
  if (!s.sums) return used;
  const PrivateRound& last = s.private_rounds.back();
  used.moments = s.sharing.own_of(s.private_rounds.front().curvature_scale);
  used.hessian = s.sharing.own_of(last.hessian_scale);
  used.spread = s.sharing.own_of(last.spread_scale);
  used.square = s.sharing.own_of(last.square_scale);
  return used;
}

std::optional<PairNoise> pair_noise(const Plan& plan) {
  const privacy::Sharing& all = plan.sharing();
  if (!all.on()) return std::nullopt;
  return PairNoise{.over_own = all.noise.pair / all.noise.own, .colluders = all.colluders};
}

void price_again(Plan& plan, const std::vector<NoiseUsed>& nodes, const std::optional<PairNoise>& pairs) {
  expects(plan.noisy(), "a run with noise");
  if (nodes.size() != 1 && nodes.size() != plan.nodes.size())
    refuse("noise of one node for all, or of each", std::to_string(nodes.size()), std::to_string(plan.nodes.size()),
           "noise-rounds");
  if (pairs) check_pairs(plan, *pairs);
  for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
    Schedule& s = plan.nodes[i];
    const NoiseUsed& used = nodes.size() == 1 ? nodes[0] : nodes[i];
    check_fits(s, used);
    if (pairs) {
      if (!s.sharing.on()) s.theorem += shared_noise_theorem;
      s.sharing = sharing_with(*pairs, static_cast<int>(plan.nodes.size()));
    }
    if (s.sums)
      price_sums(s, used);
    else
      price_iterates(s, used);
  }
}

}  // namespace parley::algorithm
