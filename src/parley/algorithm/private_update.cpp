#include "parley/algorithm/private_update.h"

#include <algorithm>
#include <cmath>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/privacy/linear_round.h"

namespace parley::algorithm {
namespace {

Vector with_output_noise(Vector value, const Schedule& s, const PrivateRound& now, privacy::Random& random) {
  expects(s.noise == Noise::none || now.objective_rate + now.objective_scale + now.output_rate + now.output_scale > 0,
          "noise in what touched data");
  if (now.output_rate > 0) value += privacy::gamma_norm_vector(value.size(), now.output_rate, random);
  if (now.output_scale > 0) value += privacy::gaussian_vector(value.size(), now.output_scale, random);
  return snap(value, s.release_bound, now.grid);
}

// Decides, before rows are read and noise is drawn, whether the minimum can be certified: from sizes and released values.
problem::Reach public_reach(const problem::Problem& problem, const problem::Proximal& terms, const Schedule& s,
                            const PrivateRound& now) {
  const problem::Sizes sizes = problem::sizes_of(problem);
  const double linear =
      terms.linear.norm() * (1 + 1e-12) + now.largest_objective_noise(static_cast<double>(terms.linear.size()));
  const problem::Reach r = problem::reach(sizes, linear, problem.regularization + terms.quadratic, s.tolerance);
  const double needed = problem::certifiable_tolerance(sizes, r);
  if (s.noise == Noise::none || needed <= s.tolerance) return r;
  throw problem::Uncertified(
      {.what = "the values of the other parties put the local minimum too far out to be certified",
       .value = "up to " + number(r.radius) + " from 0, with a rounding error up to " + number(r.rounding),
       .allowed = "a tolerance of at least " + number(needed) + " there; it is " + number(s.tolerance),
       .where = "local solve, before records were read or noise was drawn",
       .fix = "find out who sent values near --release-bound " + number(s.release_bound)});
}

}  // namespace

double noise_share(const problem::Loss& loss, double weight, double tolerance, bool at_point, const Vector& f) {
  const double error = (static_cast<double>(f.size()) * f.norm() / 4 + 4) * 0x1p-53,
               a0 = weight * loss.largest_weight();
  expects(!at_point || loss.kind == problem::LossKind::logistic, "a diameter that is proved for this loss");
  if (!at_point || error * a0 > tolerance / 2) return 1;  // decided on released values
  const double diameter = privacy::logistic_gradient_diameter(f.norm() * (1 + 1e-12));
  return std::min(
      1.0, (a0 * diameter + 2 * tolerance) / (2 * loss.plain_gradient_bound() * a0 + 2 * tolerance) * (1 + 1e-15));
}

Vector snap(const Vector& value, double bound, double grid) {
  return value.unaryExpr([=](double x) { return std::nearbyint(std::clamp(x, -bound, bound) / grid) * grid; });
}

Vector noisy_minimum(const problem::Problem& problem, problem::Proximal terms, const Vector& start, const Schedule& s,
                     const PrivateRound& now, problem::Anchor& anchor, privacy::Random& random) {
  const problem::Reach reach = public_reach(problem, terms, s, now);
  if (now.objective_rate > 0) terms.linear += privacy::gamma_norm_vector(start.size(), now.objective_rate, random);
  if (now.objective_scale > 0) terms.linear += privacy::gaussian_vector(start.size(), now.objective_scale, random);
  const auto solution = problem::argmin(problem, terms, start,
                                        {.tolerance = s.tolerance,
                                         .anchor = s.anchored ? &anchor : nullptr,
                                         .reach = s.noise == Noise::none ? nullptr : &reach});
  expects(solution.certificate.bound() <= s.tolerance, "a certified minimum");
  return with_output_noise(solution.f, s, now, random);
}

Vector anchor_for(const Vector& anchor, const Vector& start, const Schedule& s) {
  if (!s.anchored) return {};
  return problem::Anchor::near(anchor, start) ? anchor : start;
}

Vector noisy_linear_step(const problem::Problem& problem, const Vector& f, const Vector& pull, const Schedule& s,
                         const PrivateRound& now, privacy::Random& random) {
  expects(s.noise == Noise::none || problem::summation_rounding(problem::sizes_of(problem)) <= s.tolerance / 2,
          "a sum over any rows to within half the tolerance");
  expects(s.noise == Noise::none || now.gradient_rate + now.gradient_scale > 0, "noise in what touched data");
  const double less = noise_share(s.loss, s.weight, s.tolerance, s.diameter_at_point, f);
  Vector gradient = problem::loss_gradient(problem, f);
  if (now.gradient_rate > 0) gradient += privacy::gamma_norm_vector(f.size(), now.gradient_rate / less, random);
  if (now.gradient_scale > 0) privacy::add_noise(gradient, now.gradient_scale * less, s.sharing.noise, random, 0);
  gradient += problem::regularizer_gradient(problem, f) + pull;
  return snap(f - gradient / now.divisor, s.release_bound, now.grid);
}

}  // namespace parley::algorithm
