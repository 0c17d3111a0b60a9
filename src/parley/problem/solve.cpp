#include "parley/problem/solve.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "parley/base/error.h"
#include "parley/base/text.h"

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

}  // namespace

Solution argmin(std::span<const Problem> parts, const Proximal& proximal, const Vector& start,
                const SolveOptions& options) {
  expects(start.allFinite() && proximal.linear.allFinite(), "finite input to the solver");
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
        throw Error({.what = "the local minimum cannot be certified",
                     .value = "gradient norm " + number(certificate.gradient_norm) + " with rounding error up to " +
                              number(certificate.rounding),
                     .allowed = "at most " + number(options.tolerance),
                     .where = "local solve after " + std::to_string(iteration) + " Newton steps",
                     .fix = "raise --tolerance (it is relative to loss-weight / records)"});
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
  const Vector zero = Vector::Zero(parts.front().features());
  return argmin(parts, {.linear = zero}, zero, options);
}

}  // namespace parley::problem
