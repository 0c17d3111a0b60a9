#include "parley/algorithm/newton/newton_sums.h"

#include <algorithm>
#include <vector>

#include "parley/algorithm/private_update.h"
#include "parley/base/error.h"
#include "parley/problem/reach.h"
#include "parley/problem/row_sums.h"

namespace parley::algorithm::newton {
namespace {

enum Stream { of_curvature, of_gradient, of_hessian, of_spread, of_squares };  // one for each vector of a round

Vector noisy_curvature(const problem::Problem& p, const Schedule& s, const PrivateRound& now, privacy::Random& random) {
  Vector sum = s.sums->shape == Shape::full ? packed(problem::second_moments(*p.rows)) : problem::squares(*p.rows);
  if (now.curvature_scale > 0) privacy::add_noise(sum, now.curvature_scale, s.sharing.noise, random, of_curvature);
  return sum;
}

Vector noisy_gradient(const problem::Problem& p, const Vector& f, const Schedule& s, const PrivateRound& now,
                      privacy::Random& random) {
  expects(problem::summation_rounding(problem::sizes_of(p)) <= s.tolerance / 2,
          "a sum over any rows to within half the tolerance");
  const double less = noise_share(p.loss, 1, s.tolerance, s.diameter_at_point, f);
  Vector sum = problem::loss_gradient(p, f);
  if (now.gradient_scale > 0)
    privacy::add_noise(sum, now.gradient_scale * less, s.sharing.noise, random, of_gradient, &f);
  return sum;
}

// Σ w x xᵀ with a weight of each row, which is a function of the row and f alone.
template <class Weight>
Vector noisy_products(const problem::Problem& p, const Vector& f, double scale, const Schedule& s, Stream stream,
                      privacy::Random& random, Weight weight) {
  std::vector<double> w(p.rows->count());
  for (std::size_t n = 0; n < w.size(); ++n) w[n] = weight(problem::score(*p.rows, n, f), p.rows->label[n]);
  Matrix lower = Matrix::Zero(p.features(), p.features());
  problem::add_outer_products(*p.rows, w.data(), lower);
  Vector sum = packed(lower);
  if (scale > 0) privacy::add_noise(sum, scale, s.sharing.noise, random, stream, &f);
  return sum;
}

Vector noisy_hessian(const problem::Problem& p, const Vector& f, const Schedule& s, const PrivateRound& now,
                     privacy::Random& random) {
  return noisy_products(p, f, now.hessian_scale, s, of_hessian, random, [&p](double score, double y) {
    return std::clamp(p.loss.curvature(score, y), 0.0, p.loss.curvature_bound());
  });
}

Vector noisy_spread(const problem::Problem& p, const Vector& f, const Schedule& s, const PrivateRound& now,
                    privacy::Random& random) {
  return noisy_products(p, f, now.spread_scale, s, of_spread, random, [&p](double score, double y) {
    const double slope = p.loss.slope(score, y);
    return std::min(1.0, slope * slope);
  });
}

Vector noisy_squares(const problem::Problem& p, const Vector& f, const Schedule& s, const PrivateRound& now,
                     privacy::Random& random) {
  Vector sum = Vector::Zero(1);
  for (const double y : p.rows->label) sum[0] += y * y;
  if (now.square_scale > 0) privacy::add_noise(sum, now.square_scale, s.sharing.noise, random, of_squares, &f);
  return sum;
}

}  // namespace

Vector noisy_sums(const problem::Problem& p, const Vector& f, const Layout& of, const Schedule& s,
                  const PrivateRound& now, privacy::Random& random) {
  const bool final = of.final();
  expects(s.noise == Noise::none || (now.gradient_scale > 0 && (of.curvature == 0 || now.curvature_scale > 0) &&
                                     (!final || now.hessian_scale > 0) && (of.spread == 0 || now.spread_scale > 0) &&
                                     (of.square == 0 || now.square_scale > 0)),
          "noise in what touched data");
  expects(of.size() == f.size() ||
              problem::moment_rounding(static_cast<double>(p.rows->count())) <= now.curvature_tolerance,
          "sums of products of any rows to within the tolerance");
  problem::Problem whole = p;
  if (!of.cut) whole.loss = s.loss;
  expects(s.loss.kind != problem::LossKind::squared || f.isZero(0), "squared loss at 0, where slopes are bounded");
  Vector sums(of.size());
  Index at = 0;
  const auto append = [&](const Vector& numbers) {
    sums.segment(at, numbers.size()) = numbers;
    at += numbers.size();
  };
  if (of.curvature > 0) append(noisy_curvature(p, s, now, random));
  if (of.hessian > 0) append(noisy_hessian(whole, f, s, now, random));
  if (of.spread > 0) append(noisy_spread(whole, f, s, now, random));
  if (of.square > 0) append(noisy_squares(whole, f, s, now, random));
  append(noisy_gradient(whole, f, s, now, random));
  expects(at == sums.size(), "all that the layout asks for");
  return snap(sums / s.sums->unit, s.release_bound, now.grid);
}

}  // namespace parley::algorithm::newton
