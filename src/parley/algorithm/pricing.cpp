#include "parley/algorithm/pricing.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/privacy/gaussian.h"
#include "parley/privacy/group.h"
#include "parley/privacy/moments.h"

namespace parley::algorithm {
namespace {

using privacy::Bound;
using privacy::RoundFacts;

// The share of a round's loss (of ε for pure noise, of μ for Gaussian) that covers the solver's inexactness
// (docs/proofs/minima.md, theorem 4). μ adds in squares: a hundredth of it costs 5e-5 of the round.
constexpr double inexact_epsilon_share = 1e-4, inexact_mu_share = 1e-2;

// A public grid far coarser than the rounding of doubles and far finer than the noise on the output: what the low bits
// of a noisy double would tell is gone (docs/proofs/floating-point.md).
double grid_for(const Schedule& s, double output_noise) {
  return std::clamp(std::exp2(std::floor(std::log2(0x1p-8 * output_noise))), s.finest_grid(),
                    std::max(0x1p-10, s.finest_grid()));
}

std::string node_text(const Schedule& s) {
  return "node " + std::to_string(s.node);
}

void price_gamma(PrivateRound& r, const Schedule& s, const RoundFacts& f, double rate) {
  if (s.place == Place::output) {
    r.output_rate = rate;
    r.charge = {.kind = "output-gamma", .epsilon = privacy::output_epsilon(f, rate, s.tolerance)};
  } else {
    r.objective_rate = s.algorithm.on_penalty ? rate / s.curvature_of(r.penalty) : rate;
    const double exact = privacy::objective_epsilon(f, r.objective_rate);
    r.charge = {.kind = "objective-gamma", .epsilon = exact};
    if (s.tolerance > 0) {
      r.output_rate = privacy::inexact_rate(r.strong_convexity, s.tolerance, inexact_epsilon_share * exact);
      privacy::UpwardSum sum;
      sum.add(exact);
      sum.add(privacy::inexact_epsilon(r.strong_convexity, s.tolerance, r.output_rate));
      r.charge.epsilon = sum.value();
    }
  }
  if (r.output_rate > 0) r.grid = grid_for(s, 1 / r.output_rate);
}

void price_gaussian(PrivateRound& r, Schedule& s, const RoundFacts& f, double scale) {
  if (s.place == Place::output) {
    r.output_scale = scale;
    r.charge = {.kind = "output-gaussian", .mu = privacy::output_mu(f, scale, s.tolerance)};
  } else {
    expects(!s.loss.weighted(), "theorem G is for records of one weight");
    const double linear = s.algorithm.on_penalty ? s.curvature_of(r.penalty) * scale : scale;
    const privacy::Mu mu = privacy::objective_mu(f, linear, s.bound);
    if (!mu.value)
      throw Error({.what = mu.why_not,
                   .value = problem::name_of(s.loss) + " loss, noise scale " + number(linear),
                   .where = node_text(s),
                   .fix = "docs/use/planner-noise.md says which noise is covered where"});
    r.objective_scale = linear;
    s.verified_only = s.verified_only || !mu.proved;
    r.proved = mu.proved;
    r.charge = {.kind = "objective-gaussian", .mu = *mu.value};
    if (s.tolerance > 0) {
      r.output_scale = 2 * s.tolerance / (r.strong_convexity * inexact_mu_share * *mu.value);
      r.charge.mu =
          privacy::compose_mu(*mu.value, privacy::inexact_mu(r.strong_convexity, s.tolerance, r.output_scale));
    }
  }
  if (r.output_scale > 0) r.grid = grid_for(s, r.output_scale);
}

// Noise on the gradient, whose sensitivity is 2Ga₀ + 2·tolerance; the public division and the grid come after it.
// diameter_at_point halves the noise at most, at the same charge: the grid allows for that.
void price_linear(PrivateRound& r, const Schedule& s, const RoundFacts& f, double level) {
  if (s.noise == Noise::gamma) {
    r.gradient_rate = level;
    r.charge = {.kind = "linear-gamma", .epsilon = privacy::output_epsilon(f, level, s.tolerance)};
  } else {
    r.gradient_scale = level;
    r.charge = {.kind = "linear-gaussian", .mu = privacy::output_mu(f, s.sharing.own_of(level), s.tolerance)};
    if (s.sharing.on()) r.charge.mu_colluders = privacy::output_mu(f, level, s.tolerance);
  }
  r.grid = grid_for(s, (s.noise == Noise::gamma ? 1 / level : s.sharing.own_of(level)) / (2 * r.divisor));
}

[[noreturn]] void infeasible(const Schedule& s, double epsilon, const privacy::Level& level) {
  throw Error({.what = "infeasible: epsilon = " + number(epsilon) + " in " + std::to_string(s.private_rounds.size()) +
                       " private rounds at " + node_text(s) + ", because " + level.why_not,
               .where = "option --epsilon",
               .fix = level.output_would_do
                          ? "use --noise-on output"
                          : "leave --penalty to the planner, use fewer --rounds, or raise --epsilon"});
}

}  // namespace

RoundFacts facts(const Schedule& s, double strong_convexity) {
  return {.gradient_weight = s.largest_record_weight(),
          .strong_convexity = strong_convexity,
          .gradient_bound = s.loss.plain_gradient_bound(),
          .curvature_bound = s.algorithm.linear ? 0 : s.loss.plain_curvature_bound(),  // no minimum, no Jacobian
          .logistic = s.loss.kind == problem::LossKind::logistic};
}

double printed_sensitivity(const Schedule& s, const PrivateRound& r, bool paper) {
  const double convexity = s.algorithm.linear ? 1 : paper ? s.regularization + s.l1 : r.strong_convexity;
  return 2 * s.loss.plain_gradient_bound() * s.largest_record_weight() / convexity;
}

void price(PrivateRound& r, Schedule& s, double level) {
  const RoundFacts f = facts(s, s.algorithm.linear ? 1 : r.strong_convexity);  // noise on the gradient: nothing divides
  if (s.algorithm.linear)
    price_linear(r, s, f, level);
  else if (s.noise == Noise::gamma)
    price_gamma(r, s, f, level);
  else
    price_gaussian(r, s, f, level);
  r.charge.parameters = {{"gradient_weight", f.gradient_weight},
                         {"strong_convexity", f.strong_convexity},
                         {"gradient_bound", f.gradient_bound},
                         {"curvature_bound", f.curvature_bound},
                         {"logistic", f.logistic ? 1.0 : 0.0},
                         {"objective_rate", r.objective_rate},
                         {"output_rate", r.output_rate},
                         {"objective_scale", r.objective_scale},
                         {"output_scale", r.output_scale},
                         {"gradient_rate", r.gradient_rate},
                         {"gradient_scale", r.gradient_scale},
                         {"tolerance", s.tolerance},
                         {"diameter_at_point", s.diameter_at_point ? 1.0 : 0.0},
                         {"verified_only", r.proved ? 0.0 : 1.0}};
  add_parameters(s.sharing, r.charge);
  r.charge = privacy::for_person(r.charge, s.rows_per_person);
}

std::vector<double> calibrate(const Schedule& s, double epsilon, bool as_printed) {
  const std::size_t rounds = s.private_rounds.size();
  const double count = static_cast<double>(rounds);
  // What one round may cost; of one row, once it is divided by g.
  double each = 0;
  if (s.noise == Noise::gaussian) {
    each = privacy::gdp_mu(epsilon, s.delta) / std::sqrt(count) * (1 - 1e-13);
  } else {
    each = epsilon / count * (1 - 1e-13);
    if (s.delta > 0) {  // largest equal ε_k whose composition at δ stays below ε
      double low = each, high = std::max(epsilon, 2 * each);
      for (int i = 0; i < 100; ++i) {
        const double middle = (low + high) / 2;
        (privacy::pure_epsilon(std::vector<double>(rounds, middle), s.delta) <= epsilon ? low : high) = middle;
      }
      each = low * (1 - 1e-13);
    }
  }
  each /= static_cast<double>(s.group());
  std::vector<double> levels;
  for (const PrivateRound& r : s.private_rounds) {
    const RoundFacts f = facts(s, s.algorithm.linear ? 1
                                  : as_printed       ? std::min(s.regularization + s.l1, r.strong_convexity)
                                                     : r.strong_convexity);
    const double linear = s.algorithm.on_penalty ? s.curvature_of(r.penalty) : 1;
    privacy::Level level;
    if (s.noise == Noise::gaussian && s.place != Place::objective) {
      level.value = privacy::output_scale_for(f, each, s.tolerance);
    } else if (s.noise == Noise::gaussian) {
      const double exact =
          s.tolerance > 0 ? each / std::sqrt(1 + inexact_mu_share * inexact_mu_share) * (1 - 1e-13) : each;
      level = privacy::objective_scale_for(f, exact, s.bound);
      if (level.value) *level.value /= linear;
    } else if (s.place != Place::objective) {
      level.value = privacy::output_rate_for(f, each, s.tolerance);
    } else {
      level = privacy::objective_rate_for(f, s.tolerance > 0 ? each / (1 + inexact_epsilon_share) * (1 - 1e-13) : each);
      if (level.value) *level.value *= linear;
    }
    if (!level.value) infeasible(s, epsilon, level);
    levels.push_back(*level.value);
  }
  return levels;
}

double whole_run_epsilon(std::span<const privacy::Charge> charges, double delta, privacy::Against whom) {
  privacy::UpwardSum sum;
  std::vector<double> pure, mus;
  for (const auto& c : charges) {
    if (c.epsilon > 0) pure.push_back(c.epsilon);
    if (c.mu > 0) mus.push_back(c.mu_against(whom));
    sum.add(c.epsilon);
  }
  if (!std::isfinite(sum.value()) || (mus.empty() && delta == 0)) return sum.value();
  expects(delta > 0, "Gaussian noise has a guarantee with δ > 0 only");
  const double mu = privacy::gdp_compose(mus);
  if (pure.empty()) return privacy::gdp_epsilon(mu, delta);
  const double composed = privacy::pure_epsilon(pure, delta, mu);
  return mus.empty() ? std::min(composed, sum.value()) : composed;
}

void add_parameters(const privacy::Sharing& sharing, privacy::Charge& charge) {
  if (!sharing.on()) return;
  charge.parameters.insert(charge.parameters.end(), {{"own_share", sharing.noise.own},
                                                     {"pair_share", sharing.noise.pair},
                                                     {"parties", sharing.parties},
                                                     {"colluders", sharing.colluders}});
}

void set_epsilon(Schedule& s, std::span<const privacy::Charge> charges) {
  s.epsilon = whole_run_epsilon(charges, s.delta, privacy::Against::colluders);
  s.epsilon_all_others = whole_run_epsilon(charges, s.delta);
}

privacy::Charge no_noise() {
  return {.kind = "no-noise", .epsilon = std::numeric_limits<double>::infinity()};
}

namespace {

constexpr auto papers_one_row = "the papers' bounds are for one row";
constexpr auto no_class_weights = "the papers have no class weights";

// HHCG20 Theorem 2, by its own accountant and, for star-pvp, its own sensitivity.
void price_as_hhcg20(Schedule& s, const std::vector<double>& levels) {
  s.paper_equation = "HHCG20 Theorem 2, moments accountant";
  if (s.loss.weighted()) {
    s.epsilon_paper_absent = no_class_weights;
  } else if (s.noise == Noise::none) {
    s.epsilon_paper_absent = "no noise, no privacy";
  } else if (s.group() > 1) {
    s.epsilon_paper_absent = papers_one_row;
  } else if (s.noise == Noise::gamma) {
    s.epsilon_paper_absent = "HHCG20 prints a bound for Gaussian noise only";
  } else if (s.sharing.on()) {
    s.epsilon_paper_absent = "the paper has no noise that parties share";
  } else {
    std::vector<double> mus;
    for (std::size_t k = 0; k < levels.size(); ++k)
      mus.push_back(printed_sensitivity(s, s.private_rounds[k], !s.algorithm.linear) / levels[k]);
    s.epsilon_paper = privacy::moments_epsilon(privacy::gdp_compose(mus), s.delta);
  }
}

}  // namespace

void price_as_printed(Schedule& s, const std::vector<double>& levels) {
  if (s.algorithm.star || s.algorithm.linear) return price_as_hhcg20(s, levels);
  const bool zkl18 = s.algorithm.on_penalty;
  s.paper_equation = zkl18 ? "ZKL18 (26)" : "ZKL20 (32)";
  const auto absent = [&](const std::string& why) { s.epsilon_paper_absent = why; };
  if (s.loss.weighted()) return absent(no_class_weights);
  if (s.noise == Noise::none) return absent("no noise, no privacy");
  if (s.group() > 1) return absent(papers_one_row);
  if (s.noise == Noise::gaussian) return absent("the papers print bounds for gamma noise only");
  if (s.place == Place::output) return absent("the papers print no bound for noise on the output");
  if (s.loss.kind != problem::LossKind::logistic)
    return absent("Assumption 4 asks for a strictly convex, twice differentiable loss with |L'| <= 1");
  const PrivateRound& first = s.private_rounds.front();
  const double base = zkl18 ? first.dual_step : first.penalty;  // ZKL18 states its condition with θ
  if (const auto why = privacy::paper_condition_violated(facts(s, s.regularization + s.curvature_of(base))))
    return absent(*why);
  if (zkl18 && std::ranges::any_of(s.private_rounds, [](const PrivateRound& r) { return r.penalty < r.dual_step; }))
    return absent("ZKL18 Theorem 4.1 asks for penalty >= dual step in every round");
  privacy::UpwardSum sum;
  for (std::size_t k = 0; k < s.private_rounds.size(); ++k) {
    const PrivateRound& r = s.private_rounds[k];
    const RoundFacts f = facts(s, r.strong_convexity);
    sum.add(zkl18 ? privacy::zkl18_epsilon(f, levels[k], r.penalty, s.degree) : privacy::zkl20_epsilon(f, levels[k]));
  }
  s.epsilon_paper = sum.value();
}

}  // namespace parley::algorithm
