#include "parley/problem/solve.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/problem/proximal_newton.h"

namespace parley::problem {
namespace {

using Factor = Eigen::LLT<Matrix, Eigen::Lower>;

void factorise(std::span<const Problem> parts, const Proximal& proximal, const Evaluation& at, Matrix& work,
               Factor& factor) {
  hessian(parts, proximal, at, work);
  factor.compute(work);
  expects(factor.info() == Eigen::Success, "a strongly convex problem has a Cholesky factor");
}

// −H⁻¹g by conjugate gradients with the diagonal as preconditioner, to a relative residual that shrinks with ‖g‖.
Vector conjugate_direction(std::span<const Problem> parts, const Proximal& proximal, const Evaluation& at,
                           double relative) {
  const Vector inverse = hessian_diagonal(parts, proximal, at).cwiseInverse();
  Vector x = Vector::Zero(at.gradient.size()), r = -at.gradient, z = inverse.cwiseProduct(r), p = z;
  double rz = r.dot(z);
  const double target = relative * r.norm();
  for (int i = 0; i < 10 * x.size() && r.norm() > target; ++i) {
    const Vector hp = hessian_times(parts, proximal, at, p);
    const double step = rz / p.dot(hp);
    x += step * p;
    r -= step * hp;
    z = inverse.cwiseProduct(r);
    const double next = r.dot(z);
    p = z + (next / rz) * p;
    rz = next;
  }
  return x;
}

void check_loss(std::span<const Problem> parts) {
  for (const Problem& p : parts) {
    expects(p.loss.scores() == parts.front().loss.scores(), "parts with equally many scores per row");
    if (p.loss.smooth()) continue;
    throw Error({.what = "the minimum with the plain hinge cannot be certified: its gradient jumps",
                 .value = "loss '" + name_of(p.loss) + "'",
                 .allowed = "losses with a bounded second derivative, or updates that take one gradient step",
                 .where = "local solve",
                 .fix = "use --loss huber-hinge, or a linearised algorithm (dp-admm, linear-admm)"});
  }
}

}  // namespace

void refuse(const Certificate& certificate, double tolerance, int iterations) {
  throw Error({.what = "the local minimum cannot be certified",
               .value = "gradient norm " + number(certificate.gradient_norm) + " with rounding error up to " +
                        number(certificate.rounding),
               .allowed = "at most " + number(tolerance),
               .where = "local solve after " + std::to_string(iterations) + " Newton steps",
               .fix = "raise --tolerance (it is relative to loss-weight / records)"});
}

Solution argmin(std::span<const Problem> parts, const Proximal& proximal, const Vector& start,
                const SolveOptions& options) {
  expects(start.allFinite() && proximal.linear.allFinite(), "finite input to the solver");
  check_loss(parts);
  expects(start.size() == parts.front().dimension() && proximal.linear.size() == start.size(), "vectors of one size");
  if (std::ranges::any_of(parts, [](const Problem& p) { return p.l1 > 0; }))
    return proximal_newton(parts, proximal, start, options);
  const bool dense = start.size() <= options.dense_limit;
  Matrix work;
  Factor factor;
  Evaluation at, next;
  Vector f = start;
  evaluate(parts, proximal, f, at);
  const double scale = std::max(at.gradient.norm(), options.tolerance);
  double target = 0.5 * options.tolerance;  // what the plain sums aim at; the certificate decides
  double previous = 0;                      // ‖∇J‖ one step ago; 0: none yet, and the predictions below are infinite
  bool stalled = false;
  for (int iteration = 0;; ++iteration) {
    const double size = at.gradient.norm();
    if (size <= target || stalled || iteration == options.max_iterations) {
      const Certificate certificate = certify(parts, proximal, f);
      if (certificate.bound() <= options.tolerance)
        return {.f = f, .certificate = certificate, .iterations = iteration};
      if (stalled || iteration == options.max_iterations || certificate.rounding > options.tolerance)
        refuse(certificate, options.tolerance, iteration);
      target = 0.1 * std::min(size, target);
    }
    // What a step will leave, from what the last one left: a chord step (the old Hessian) goes on at the same rate,
    // Newton's squares it.
    const double rate = size / previous, after_chord = 4 * size * rate, after_newton = after_chord * rate;
    const bool chord = after_chord <= target;  // false on NaN
    if (dense && !chord) factorise(parts, proximal, at, work, factor);
    const Vector direction = dense ? Vector(factor.solve(-at.gradient))
                                   : conjugate_direction(parts, proximal, at, std::min(0.1, std::sqrt(size / scale)));
    if (dense && (chord || after_newton <= target)) {  // probably the last step: the certificate alone can tell
      const Vector trial = f + direction;
      const Certificate certificate = certify(parts, proximal, trial);
      if (certificate.bound() <= options.tolerance)
        return {.f = trial, .certificate = certificate, .iterations = iteration + 1};
    }
    const double slope = at.gradient.dot(direction);
    // Armijo's rule, on the value while its decrease is visible beside its rounding, then on ‖∇J‖: along −H⁻¹g it falls
    // at rate 1, also between the kinks of a Huber loss, where the next piece may begin long before the full step.
    const bool visible = -slope > 1e-9 * (1 + std::abs(at.value));
    double step = 1;
    bool accepted = false;
    for (int halving = 0; halving < 50 && !accepted; ++halving, step /= 2) {
      const Vector trial = f + step * direction;
      evaluate(parts, proximal, trial, next);
      accepted =
          visible ? next.value <= at.value + 1e-4 * step * slope : next.gradient.norm() <= (1 - 1e-4 * step) * size;
      if (accepted) {
        f = trial;
        std::swap(at, next);
      }
    }
    stalled = !accepted && !chord;  // a chord step that failed is tried again with a fresh Hessian
    previous = accepted ? size : 0;
  }
}

Solution argmin(const Problem& problem, const Proximal& proximal, const Vector& start, const SolveOptions& options) {
  return argmin(std::span(&problem, 1), proximal, start, options);
}

Solution centralised_optimum(std::span<const Problem> parts, const SolveOptions& options) {
  const Vector zero = Vector::Zero(parts.front().dimension());
  const Proximal none{.linear = zero};
  if (std::ranges::all_of(parts, [](const Problem& p) { return p.loss.smooth(); }))
    return argmin(parts, none, zero, options);
  for (const Problem& p : parts) expects(p.loss.kind == LossKind::hinge, "parts with one loss");
  std::vector<Problem> smoothed(parts.begin(), parts.end());
  double all = 0;
  for (const Problem& p : parts) all += p.weight * static_cast<double>(p.rows->count());
  SolveOptions asked = options;
  asked.tolerance = std::max(options.tolerance, hinge_tolerance * all);
  asked.max_iterations = std::max(options.max_iterations, 1000);
  Solution best{.f = zero};
  Proximal hair = none;  // l1 alone: flat pieces between the kinks need some curvature
  if (std::ranges::all_of(parts, [](const Problem& p) { return p.regularization == 0; })) hair.quadratic = 1e-6 * all;
  for (double width = 0.5; width > 0.9 * hinge_width; width /= 5) {
    for (Problem& p : smoothed) p.loss = {.kind = LossKind::huber_hinge, .width = width};
    try {
      best = argmin(smoothed, hair, best.f, asked);
    } catch (const Error&) {  // a yardstick, not a release: the narrowest width that could be solved
      if (width == 0.5) throw;
      break;
    }
  }
  return best;
}

}  // namespace parley::problem
