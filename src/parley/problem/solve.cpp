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

// Passes that conjugate gradients may take with an old factor: about what a Hessian costs, which for sparse rows is
// little.
int most_passes(std::span<const Problem> parts, const Proximal& proximal) {
  return proximal.across == nullptr && parts.front().rows->mostly_full() ? 3 : 1;  // the same in every process
}

struct Workspace {  // kept by each thread: no allocation inside a round once it has grown
  Matrix hessian;
  Factor factor;
  Evaluation at, next;
  Vector trial, direction, r, z, p, hp;
};

// −H⁻¹g by conjugate gradients, to a relative residual or for `most` passes; `precondition` is an approximate inverse
// of H. Whatever it ends with is a direction of descent.
template <class Precondition>
bool conjugate_direction(std::span<const Problem> parts, const Proximal& proximal, const Precondition& precondition,
                         double relative, int most, Workspace& w) {
  Vector& x = w.direction;
  w.r = -w.at.gradient;
  w.z = w.r;
  precondition(w.z);
  w.p = w.z;
  x.setZero(w.r.size());
  double rz = w.r.dot(w.z);
  const double target = relative * w.r.norm();
  for (int i = 0; i < most; ++i) {
    hessian_times(parts, proximal, w.at, w.p, w.hp);
    const double step = rz / w.p.dot(w.hp);
    x += step * w.p;
    w.r -= step * w.hp;
    if (w.r.norm() <= target) return true;
    w.z = w.r;
    precondition(w.z);
    const double next = w.r.dot(w.z);
    w.p = w.z + (next / rz) * w.p;
    rz = next;
  }
  return false;
}

// Begins with the anchor's Hessian where that is near enough: its factor in w. evaluated: w.at is that of the start
// already. (Trap: what follows must not depend on whether the Hessian was known.)
bool use_anchor(std::span<const Problem> parts, const Proximal& proximal, const Vector& start, Anchor* anchor,
                Workspace& w, bool& evaluated) {
  if (anchor == nullptr || !Anchor::near(anchor->point, start) || parts.front().loss.kind != LossKind::logistic)
    return false;
  const double regularization = total_regularization(parts);
  if (!anchor->known) {
    evaluate(parts, proximal, anchor->point, w.at);
    hessian(parts, {.linear = proximal.linear, .quadratic = -regularization}, w.at,
            anchor->loss_hessian);  // the loss alone: the same whatever the penalty was then
    anchor->known = true;
    evaluated = anchor->point == start;
  }
  w.hessian = anchor->loss_hessian;
  w.hessian.diagonal().array() += regularization + proximal.quadratic;
  w.factor.compute(w.hessian);
  return w.factor.info() == Eigen::Success;
}

// A step along w.direction, to w.trial with its evaluation in w.next; left: ‖∇J‖ there. False: none was found.
// Armijo's rule, on the value while its decrease is visible beside its rounding, then on ‖∇J‖: along −H⁻¹g it falls at
// rate 1, also between the kinks of a Huber loss, where the next piece may begin long before the full step.
bool line_search(std::span<const Problem> parts, const Proximal& proximal, const Vector& f, Workspace& w,
                 double& left) {
  const double size = w.at.gradient.norm(), slope = w.at.gradient.dot(w.direction);
  const bool visible = -slope > 1e-9 * (1 + std::abs(w.at.value));
  double step = 1;
  for (int halving = 0; halving < 50; ++halving, step /= 2) {
    w.trial = f + step * w.direction;
    evaluate(parts, proximal, w.trial, w.next);
    left = w.next.gradient.norm();
    if (visible ? w.next.value <= w.at.value + 1e-4 * step * slope : left <= (1 - 1e-4 * step) * size) return true;
  }
  return false;
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
  throw Uncertified({.what = "the local minimum cannot be certified",
                     .value = "gradient norm " + number(certificate.gradient_norm) + " with rounding error up to " +
                              number(certificate.rounding),
                     .allowed = "at most " + number(tolerance),
                     .where = "local solve after " + std::to_string(iterations) + " Newton steps",
                     .fix = "raise --tolerance (it is relative to loss-weight / records)"});
}

Certificate certificate(const Evaluation& at, const Vector& f, double l1, const SolveOptions& options) {
  Certificate c = certificate(at, f, l1);
  if (options.reach != nullptr) c.rounding = options.reach->rounding;
  return c;
}

bool reached(const Certificate& c, const Vector& f, const SolveOptions& options) {
  return c.bound() <= options.tolerance && (options.reach == nullptr || f.norm() <= options.reach->radius);
}

Solution descend(std::span<const Problem> parts, const Proximal& proximal, Vector f, const SolveOptions& options) {
  expects(options.reach != nullptr && proximal.across == nullptr, "a descent for a release");
  double steepest = total_regularization(parts) + proximal.quadratic, l1 = 0;  // Λ
  for (const Problem& p : parts) {
    steepest += p.loss.curvature_bound() * p.weight * static_cast<double>(p.rows->count());
    l1 += p.l1;
  }
  if (f.norm() > options.reach->radius) f.setZero();
  Evaluation at;
  for (int iteration = 0;; ++iteration) {
    evaluate(parts, proximal, f, at);
    const Certificate now = certificate(at, f, l1, options);
    if (reached(now, f, options)) return {.f = f, .certificate = now, .iterations = iteration};
    expects(std::isfinite(now.gradient_norm), "a finite gradient");
    f -= at.gradient / steepest;
    if (l1 > 0) f = f.unaryExpr([&](double x) { return soft_threshold(x, l1 / steepest); });
  }
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
  bool evaluated = false;
  const bool anchored = dense && use_anchor(parts, proximal, start, options.anchor, w, evaluated);
  if (!evaluated) evaluate(parts, proximal, f, w.at, dense && !anchored ? &w.hessian : nullptr);
  const double scale = std::max(w.at.gradient.norm(), options.tolerance);
  bool fresh = dense && !anchored;  // w.hessian is that of f
  bool outdated = fresh;            // w.factor is too far from f
  bool stalled = false;
  for (int iteration = 0;; ++iteration) {
    const Certificate now = certificate(w.at, f, 0, options);
    if (reached(now, f, options)) return {.f = f, .certificate = now, .iterations = iteration};
    const bool over = stalled || iteration == options.max_iterations;
    if (over && options.reach != nullptr) return descend(parts, proximal, f, options);
    if (over || (now.rounding >= options.tolerance && now.gradient_norm <= now.rounding))
      refuse(now, options.tolerance, iteration);
    const double size = w.at.gradient.norm(),
                 target = std::max(options.tolerance - now.rounding, 0.1 * options.tolerance);
    const bool newton = outdated;
    bool solved = true;
    if (newton) {
      if (!fresh) hessian(parts, proximal, w.at, w.hessian);
      w.factor.compute(w.hessian);
      stalled = w.factor.info() != Eigen::Success;  // too badly conditioned for doubles
      if (stalled) continue;
      w.direction = -w.at.gradient;
      w.factor.solveInPlace(w.direction);
    } else if (dense) {  // as exact as the last step needs, and no more than a Hessian costs
      solved = conjugate_direction(
          parts, proximal, [&](Vector& r) { w.factor.solveInPlace(r); }, std::clamp(0.3 * target / size, 0.01, 0.3),
          most_passes(parts, proximal), w);
    } else {
      const Vector inverse = hessian_diagonal(parts, proximal, w.at).cwiseInverse();
      conjugate_direction(
          parts, proximal, [&](Vector& r) { r.array() *= inverse.array(); }, std::min(0.1, std::sqrt(size / scale)),
          static_cast<int>(10 * f.size()), w);
    }
    double left = 0;
    const bool accepted = line_search(parts, proximal, f, w, left);
    stalled = !accepted && (newton || !dense);  // a step with an old factor that failed is tried again with a fresh one
    outdated = dense && (!accepted || !solved || left > 0.5 * size);
    if (!accepted) continue;
    fresh = false;
    f.swap(w.trial);
    std::swap(w.at, w.next);
  }
}

Solution argmin(const Problem& problem, const Proximal& proximal, const Vector& start, const SolveOptions& options) {
  return argmin(std::span(&problem, 1), proximal, start, options);
}

Solution centralised_optimum(std::span<const Problem> parts, const SolveOptions& options, const SumAcross* across) {
  const Vector zero = Vector::Zero(parts.front().dimension());
  const Proximal none{.linear = zero, .across = across};
  if (std::ranges::all_of(parts, [](const Problem& p) { return p.loss.smooth(); }))
    return argmin(parts, none, zero, options);
  for (const Problem& p : parts) expects(p.loss.kind == LossKind::hinge, "parts with one loss");
  std::vector<Problem> smoothed(parts.begin(), parts.end());
  double mine = 0;
  for (const Problem& p : parts) mine += p.weight * static_cast<double>(p.rows->count());
  double all = mine;
  if (across != nullptr) (*across)({&all, 1});
  SolveOptions asked = options;
  asked.tolerance = std::max(options.tolerance, hinge_tolerance * all);
  asked.max_iterations = std::max(options.max_iterations, 1000);
  Solution best{.f = zero};
  Proximal hair = none;  // l1 alone: flat pieces between the kinks need some curvature
  if (std::ranges::all_of(parts, [](const Problem& p) { return p.regularization == 0; })) hair.quadratic = 1e-6 * mine;
  for (double width = 0.5; width > 0.9 * hinge_width; width /= 5) {
    for (Problem& p : smoothed) p.loss.kind = LossKind::huber_hinge, p.loss.width = width;
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
