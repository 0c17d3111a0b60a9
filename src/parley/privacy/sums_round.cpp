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
  const double gradient = output_mu(sum_of(r.gradient_bound), r.gradient_scale, r.tolerance);
  if (r.curvature_scale == 0) return gradient;
  return compose_mu(gradient, output_mu(sum_of(half_of_root_2), r.curvature_scale, r.curvature_tolerance));
}

double gradient_scale_for(double gradient_bound, double mu, double tolerance) {
  return output_scale_for(sum_of(gradient_bound), mu, tolerance);
}

double curvature_scale_for(double mu, double tolerance) {
  return output_scale_for(sum_of(half_of_root_2), mu, tolerance);
}

}  // namespace parley::privacy
