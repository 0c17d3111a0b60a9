#include "parley/problem/solve.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/problem/proximal_newton.h"

namespace parley::problem {
namespace {

using Factor = Eigen::LLT<Matrix, Eigen::Lower>;

// Which step is cheaper from here: Newton's needs the Hessian and its factor, about `hessian_cost` evaluations; a chord
// step does with the old ones. The last Newton step tells c in ‖∇J‖⁺ = c‖∇J‖², so the next leaves about 4c‖∇J‖² and
// chord steps after it shrink by 4c‖∇J‖; after a chord step its own rate is known. A wrong forecast costs time only.
class Forecast {
 public:
  void newton_did(double before, double now) {
    constant_ = now / (before * before);
    rate_ = 4 * now / before;
  }
  void chord_did(double before, double now) { rate_ = now / before; }
  void forget() { constant_ = rate_ = infinite; }

  bool chord(double size, double target) const {
    if (!(rate_ < 0.5)) return false;
    if (constant_ == infinite) return steps(size, target, rate_) <= 4 * hessian_cost;  // an anchor's rate
    const double newton = 4 * constant_ * size;
    return steps(size, target, rate_) <= 1 + hessian_cost + steps(size * newton, target, newton);
  }
  // Will the step after this one need a Hessian?
  bool hessian_after(double size, double target) const {
    if (constant_ == infinite) return !(rate_ < 0.5);
    Forecast then = *this;
    const bool now = chord(size, target);
    const double left = now ? rate_ * size : 4 * constant_ * size * size;
    if (left <= target) return false;
    if (!now) then.newton_did(size, left);
    return !then.chord(left, target);
  }

 private:
  static constexpr double infinite = std::numeric_limits<double>::infinity(), hessian_cost = 3;
  static double steps(double size, double target, double rate) {
    return size <= target ? 0 : rate < 1 ? std::ceil(std::log(size / target) / -std::log(rate)) : infinite;
  }
  double constant_ = infinite, rate_ = infinite;
};

struct Workspace {  // kept by each thread: no allocation inside a round once it has grown
  Matrix hessian;
  Factor factor;
  Evaluation at, next;
  Vector trial, direction;
};

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

double ridge_of(std::span<const Problem> parts, const Proximal& proximal) {
  double sum = proximal.quadratic;
  for (const Problem& p : parts) sum += p.regularization;
  return sum;
}

// Begins with the anchor's Hessian where that is near enough: its factor in w, and the rate that it promises.
// evaluated: w.at is that of the start already. (Trap: what follows must not depend on whether the Hessian was known.)
bool use_anchor(std::span<const Problem> parts, const Proximal& proximal, const Vector& start, Anchor* anchor,
                Workspace& w, Forecast& forecast, bool& evaluated) {
  if (anchor == nullptr || !anchor->near(start) || parts.front().loss.kind != LossKind::logistic) return false;
  const double ridge = ridge_of(parts, proximal);
  if (!anchor->known) {
    evaluate(parts, proximal, anchor->point, w.at, &w.hessian);
    anchor->loss_hessian = w.hessian;
    anchor->loss_hessian.diagonal().array() -= ridge;
    anchor->known = true;
    evaluated = anchor->point == start;
  }
  w.hessian = anchor->loss_hessian;
  w.hessian.diagonal().array() += ridge;
  w.factor.compute(w.hessian);
  expects(w.factor.info() == Eigen::Success, "a strongly convex problem has a Cholesky factor");
  forecast.chord_did(1, std::min(0.49, std::expm1((start - anchor->point).norm()) + 0.05));
  return true;
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

void Anchor::move_to(const Vector& to) {
  if (point.size() == to.size() && point == to) return;
  point = to;
  known = false;
}

Solution argmin(std::span<const Problem> parts, const Proximal& proximal, const Vector& start,
                const SolveOptions& options) {
  expects(start.allFinite() && proximal.linear.allFinite(), "finite input to the solver");
  check_loss(parts);
  expects(start.size() == parts.front().dimension() && proximal.linear.size() == start.size(), "vectors of one size");
  if (std::ranges::any_of(parts, [](const Problem& p) { return p.l1 > 0; }))
    return proximal_newton(parts, proximal, start, options);
  const bool dense = start.size() <= options.dense_limit;
  thread_local Workspace w;
  Vector f = start;
  Forecast forecast;
  bool evaluated = false;
  const bool anchored = dense && use_anchor(parts, proximal, start, options.anchor, w, forecast, evaluated);
  if (!evaluated) evaluate(parts, proximal, f, w.at, dense && !anchored ? &w.hessian : nullptr);
  const double scale = std::max(w.at.gradient.norm(), options.tolerance);
  bool fresh = dense && !anchored, stalled = false;  // fresh: w.hessian is that of f
  for (int iteration = 0;; ++iteration) {
    const Certificate now = certificate(w.at, f, 0);
    if (now.bound() <= options.tolerance) return {.f = f, .certificate = now, .iterations = iteration};
    if (stalled || iteration == options.max_iterations ||
        (now.rounding >= options.tolerance && now.gradient_norm <= now.rounding))
      refuse(now, options.tolerance, iteration);
    const double size = w.at.gradient.norm(),
                 target = std::max(options.tolerance - now.rounding, 0.1 * options.tolerance);
    const bool chord = dense && forecast.chord(size, target);
    if (dense && !chord) {
      if (!fresh) hessian(parts, proximal, w.at, w.hessian);
      w.factor.compute(w.hessian);
      expects(w.factor.info() == Eigen::Success, "a strongly convex problem has a Cholesky factor");
    }
    w.direction = -w.at.gradient;
    if (dense)
      w.factor.solveInPlace(w.direction);
    else
      w.direction = conjugate_direction(parts, proximal, w.at, std::min(0.1, std::sqrt(size / scale)));
    const double slope = w.at.gradient.dot(w.direction);
    // Armijo's rule, on the value while its decrease is visible beside its rounding, then on ‖∇J‖: along −H⁻¹g it falls
    // at rate 1, also between the kinks of a Huber loss, where the next piece may begin long before the full step.
    const bool visible = -slope > 1e-9 * (1 + std::abs(w.at.value));
    const bool with_hessian = dense && forecast.hessian_after(size, target);
    double step = 1, left = 0;
    bool accepted = false;
    for (int halving = 0; halving < 50 && !accepted; ++halving, step /= 2) {
      w.trial = f + step * w.direction;
      const bool both = with_hessian && halving == 0;
      evaluate(parts, proximal, w.trial, w.next, both ? &w.hessian : nullptr);
      left = w.next.gradient.norm();
      accepted = visible ? w.next.value <= w.at.value + 1e-4 * step * slope : left <= (1 - 1e-4 * step) * size;
      fresh = accepted && both;
    }
    stalled = !accepted && !chord;  // a chord step that failed is tried again with a fresh Hessian
    if (!accepted || step < 0.5) {  // (step was halved once more when accepted)
      forecast.forget();
    } else if (chord) {
      forecast.chord_did(size, left);
    } else {
      forecast.newton_did(size, left);
    }
    if (accepted) {
      f.swap(w.trial);
      std::swap(w.at, w.next);
    }
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
