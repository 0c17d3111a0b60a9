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

// What the noise for gradients 2G apart may be multiplied by at the released f: (a₀ Diam(‖f‖) + 2τ)/(2Ga₀ + 2τ) ≤ 1,
// rounded up. τ also covers the error of one computed gradient, (d‖f‖/4 + 4)u (docs/privacy-linear.md, section 1).
double noise_share(const Schedule& s, const Vector& f) {
  const double error = (static_cast<double>(f.size()) * f.norm() / 4 + 4) * 0x1p-53;
  if (!s.diameter_at_point || error * s.weight > s.tolerance / 2) return 1;  // decided on released values
  const double diameter = privacy::logistic_gradient_diameter(f.norm() * (1 + 1e-12));
  return std::min(1.0, (s.weight * diameter + 2 * s.tolerance) /
                           (2 * s.loss.gradient_bound() * s.weight + 2 * s.tolerance) * (1 + 1e-15));
}

// Decides, before rows are read, whether the minimum can be certified: from sizes, released values and the noise.
problem::Reach public_reach(const problem::Problem& problem, const problem::Proximal& terms, const Schedule& s) {
  const problem::Sizes sizes = problem::sizes_of(problem);
  const problem::Reach r =
      problem::reach(sizes, terms.linear.norm() * (1 + 1e-12), problem.regularization + terms.quadratic, s.tolerance);
  if (s.noise == Noise::none || problem::certifiable_tolerance(sizes, r) <= s.tolerance) return r;
  throw problem::Uncertified(
      {.what = "the local minimum may lie so far out that it cannot be certified in double arithmetic",
       .value = "up to " + number(r.radius) + " from 0, with a rounding error up to " + number(r.rounding),
       .allowed = "a tolerance of at least " + number(problem::certifiable_tolerance(sizes, r)) + " there; it is " +
                  number(s.tolerance),
       .where = "local solve, before the records were read",
       .fix = "the values of the other parties or the noise are far beyond --release-bound " + number(s.release_bound) +
              ": find out who sent them"});
}

}  // namespace

Vector snap(const Vector& value, double bound, double grid) {
  return value.unaryExpr([=](double x) { return std::nearbyint(std::clamp(x, -bound, bound) / grid) * grid; });
}

Vector noisy_minimum(const problem::Problem& problem, problem::Proximal terms, const Vector& start, const Schedule& s,
                     const PrivateRound& now, problem::Anchor& anchor, privacy::Random& random) {
  if (now.objective_rate > 0) terms.linear += privacy::gamma_norm_vector(start.size(), now.objective_rate, random);
  if (now.objective_scale > 0) terms.linear += privacy::gaussian_vector(start.size(), now.objective_scale, random);
  const problem::Reach reach = public_reach(problem, terms, s);
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
  const double less = noise_share(s, f);
  Vector gradient = problem::loss_gradient(problem, f);
  if (now.gradient_rate > 0) gradient += privacy::gamma_norm_vector(f.size(), now.gradient_rate / less, random);
  if (now.gradient_scale > 0) gradient += privacy::gaussian_vector(f.size(), now.gradient_scale * less, random);
  gradient += problem::regularizer_gradient(problem, f) + pull;
  return snap(f - gradient / now.divisor, s.release_bound, now.grid);
}

}  // namespace parley::algorithm
