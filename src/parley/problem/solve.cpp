#include "parley/problem/solve.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "parley/base/error.h"
#include "parley/base/text.h"

namespace parley::problem {
namespace {

// −H⁻¹g by Cholesky.
Vector newton_direction(std::span<const Problem> parts, const Proximal& proximal, const Evaluation& at, Matrix& work) {
  hessian(parts, proximal, at, work);
  const Eigen::LLT<Eigen::Ref<Matrix>, Eigen::Lower> factor(work);
  expects(factor.info() == Eigen::Success, "a strongly convex problem has a Cholesky factor");
  return factor.solve(-at.gradient);
}

// −H⁻¹g by conjugate gradients with the diagonal as preconditioner, to a relative residual that shrinks with ‖g‖.
Vector conjugate_direction(std::span<const Problem> parts, const Proximal& proximal, const Evaluation& at, double relative) {
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

Solution argmin(std::span<const Problem> parts, const Proximal& proximal, const Vector& start, const SolveOptions& options) {
  expects(start.allFinite() && proximal.linear.allFinite(), "finite input to the solver");
  const bool dense = start.size() <= options.dense_limit;
  Matrix work;
  Evaluation at, next;
  Vector f = start;
  evaluate(parts, proximal, f, at);
  const double scale = std::max(at.gradient.norm(), options.tolerance);
  double target = 0.5 * options.tolerance;  // what the plain sums aim at; the certificate decides
  bool stalled = false;
  for (int iteration = 0;; ++iteration) {
    const double size = at.gradient.norm();
    if (size <= target || stalled || iteration == options.max_iterations) {
      const Certificate certificate = certify(parts, proximal, f);
      if (certificate.bound() <= options.tolerance) return {.f = f, .certificate = certificate, .iterations = iteration};
      if (stalled || iteration == options.max_iterations)
        throw Error({.what = "the local minimum cannot be certified",
                     .value = "gradient norm " + number(certificate.gradient_norm) + " with rounding error up to " + number(certificate.rounding),
                     .allowed = "at most " + number(options.tolerance),
                     .where = "local solve after " + std::to_string(iteration) + " Newton steps",
                     .fix = "raise --tolerance (it is relative to loss-weight / records)"});
      target = 0.1 * std::min(size, target);
    }
    const Vector direction = dense ? newton_direction(parts, proximal, at, work)
                                   : conjugate_direction(parts, proximal, at, std::min(0.1, std::sqrt(size / scale)));
    const double slope = at.gradient.dot(direction);
    // Armijo's rule; near the minimum values differ by less than their rounding, then a smaller gradient is the proof of progress.
    double step = 1;
    bool accepted = false;
    for (int halving = 0; halving < 60 && !accepted; ++halving, step /= 2) {
      const Vector trial = f + step * direction;
      evaluate(parts, proximal, trial, next);
      accepted = next.value <= at.value + 1e-4 * step * slope || next.gradient.norm() < 0.9 * size;
      if (accepted) {
        f = trial;
        std::swap(at, next);
      } else if (std::abs(step * slope) < 1e-15 * (1 + std::abs(at.value))) {
        break;
      }
    }
    stalled = !accepted;
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
