#include "parley/privacy/sums_round.h"

#include <cmath>
#include <numbers>

#include "parley/base/error.h"
#include "parley/privacy/gaussian_round.h"

namespace parley::privacy {
namespace {

const double half_of_root_2 = std::nextafter(std::numbers::sqrt2 / 2, 1.0);

// As for noise on a gradient: a sum in which one term moves by 2·bound.
RoundFacts sum_of(double bound) {
  return {.gradient_weight = 1, .strong_convexity = 1, .gradient_bound = bound, .curvature_bound = 0};
}

}  // namespace

double sums_mu(const SumsRound& r) {
  expects(r.gradient_scale > 0 && r.gradient_bound > 0, "noise on a gradient that is bounded");
  double mu = output_mu(sum_of(r.gradient_bound), r.gradient_scale, r.tolerance);
  const auto add = [&](double bound, double scale) {
    if (scale != 0) mu = compose_mu(mu, output_mu(sum_of(bound), scale, r.curvature_tolerance));
  };
  add(half_of_root_2, r.curvature_scale);
  add(half_of_root_2 * r.hessian_bound * (1 + 0x1p-52), r.hessian_scale);
  add(half_of_root_2, r.spread_scale);
  add(0.5, r.square_scale);
  return mu;
}

double gradient_scale_for(double gradient_bound, double mu, double tolerance) {
  return output_scale_for(sum_of(gradient_bound), mu, tolerance);
}

double curvature_scale_for(double mu, double tolerance) {
  return output_scale_for(sum_of(half_of_root_2), mu, tolerance);
}

double hessian_scale_for(double hessian_bound, double mu, double tolerance) {
  return output_scale_for(sum_of(half_of_root_2 * hessian_bound * (1 + 0x1p-52)), mu, tolerance);
}

double square_scale_for(double mu, double tolerance) {
  return output_scale_for(sum_of(0.5), mu, tolerance);
}

}  // namespace parley::privacy
