#include "parley/algorithm/newton/newton_sums.h"

#include "parley/algorithm/private_update.h"
#include "parley/base/error.h"
#include "parley/problem/reach.h"
#include "parley/problem/row_sums.h"

namespace parley::algorithm::newton {
namespace {

Vector noisy_curvature(const problem::Problem& p, const Schedule& s, const PrivateRound& now, privacy::Random& random) {
  expects(problem::moment_rounding(static_cast<double>(p.rows->count())) <= now.curvature_tolerance,
          "second moments of any rows to within the tolerance");
  Vector sum = s.sums->shape == Shape::full ? packed(problem::second_moments(*p.rows)) : problem::squares(*p.rows);
  if (now.curvature_scale > 0) privacy::add_noise(sum, now.curvature_scale, s.sharing.noise, random, 0);
  return sum;
}

Vector noisy_gradient(const problem::Problem& p, const Vector& f, const Schedule& s, const PrivateRound& now,
                      privacy::Random& random) {
  expects(problem::summation_rounding(problem::sizes_of(p)) <= s.tolerance / 2,
          "a sum over any rows to within half the tolerance");
  const double less = noise_share(p.loss, 1, s.tolerance, s.diameter_at_point, f);
  Vector sum = problem::loss_gradient(p, f);
  if (now.gradient_scale > 0) privacy::add_noise(sum, now.gradient_scale * less, s.sharing.noise, random, 1, &f);
  return sum;
}

}  // namespace

Vector noisy_sums(const problem::Problem& p, const Vector& f, bool with_curvature, const Schedule& s,
                  const PrivateRound& now, privacy::Random& random) {
  expects(s.noise == Noise::none || (now.gradient_scale > 0 && (!with_curvature || now.curvature_scale > 0)),
          "noise in what touched data");
  Vector sums(with_curvature ? s.sums->curvature_size() + f.size() : f.size());
  if (with_curvature) sums.head(s.sums->curvature_size()) = noisy_curvature(p, s, now, random);
  sums.tail(f.size()) = noisy_gradient(p, f, s, now, random);
  return snap(sums / s.sums->unit, s.release_bound, now.grid);
}

}  // namespace parley::algorithm::newton
