#include "parley/problem/proximal_newton.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <vector>

#include "parley/base/error.h"

namespace parley::problem {
namespace {

// m(d) = gᵀd + ½dᵀHd + l1 ‖f + d‖₁ at z = f + d.
class Model {
 public:
  Model(const Vector& f, const Vector& g, const Matrix& h, double l1)
      : f_(f), g_(g), h_(h), l1_(l1), z_(f), slope_(g) {}

  // Stops when the shortest subgradient of m has norm ≤ target. Several sweeps settle most signs; then a Newton step on
  // the weights that are not 0, cut where the first of them would change its sign, settles their values.
  const Vector& minimise(double target) {
    for (int round = 0; round < 200; ++round) {
      for (int sweep = 0; sweep < 5; ++sweep) coordinate_sweep();
      slope_ = g_ + h_ * (z_ - f_);  // afresh: the sweeps' updates round
      if (size() <= target) break;
      face_step();
      if (size() <= target) break;
    }
    return z_;
  }

 private:
  double size() const { return shortest_subgradient(slope_, z_, l1_).norm(); }

  // z_j ← argmin m along coordinate j
  void coordinate_sweep() {
    for (Index j = 0; j < z_.size(); ++j) {
      const double curvature = h_(j, j), next = soft_threshold(z_[j] - slope_[j] / curvature, l1_ / curvature);
      if (next == z_[j]) continue;
      slope_ += (next - z_[j]) * h_.col(j);
      z_[j] = next;
    }
  }

  // H_SS s = −(∇m)_S − l1 sign(z_S) on S = {z ≠ 0}
  void face_step() {
    std::vector<Index> free;
    for (Index j = 0; j < z_.size(); ++j)
      if (z_[j] != 0) free.push_back(j);
    if (free.empty()) return;
    const Vector residual = slope_(free) + l1_ * z_(free).cwiseSign();
    const auto n = static_cast<Index>(free.size());
    Eigen::Map<Matrix> block(room_.data(), n, n);
    block = h_(free, free);
    Eigen::Ref<Matrix> in_place(block);
    const Eigen::LLT<Eigen::Ref<Matrix>> factor(in_place);
    if (factor.info() != Eigen::Success) return;  // too badly conditioned for doubles: the sweeps go on alone
    const Vector s = factor.solve(-residual);
    double step = 1;
    Index first = -1;  // the first weight to reach 0
    for (std::size_t i = 0; i < free.size(); ++i) {
      const double z = z_[free[i]], by = s[static_cast<Index>(i)];
      if (z * (z + by) < 0 && -z / by < step) step = -z / by, first = free[i];
    }
    for (std::size_t i = 0; i < free.size(); ++i) z_[free[i]] += step * s[static_cast<Index>(i)];
    if (first >= 0) z_[first] = 0;
    slope_ = g_ + h_ * (z_ - f_);
  }

  const Vector &f_, &g_;
  const Matrix& h_;
  double l1_;
  Vector z_, slope_;                       // slope: g + Hd
  Vector room_ = Vector::Zero(h_.size());  // Privacy: for all weights, so that memory does not follow which are not 0
};

}  // namespace

double soft_threshold(double x, double threshold) {
  return std::copysign(std::max(0.0, std::abs(x) - threshold), x);
}

Solution proximal_newton(std::span<const Problem> parts, const Proximal& proximal, const Vector& start,
                         const SolveOptions& options) {
  expects(start.size() <= most_l1_weights, "no more weights than a plan allows (algorithm/rules.h)");
  double l1 = 0;
  for (const Problem& p : parts) l1 += p.l1;
  if (proximal.across != nullptr) (*proximal.across)({&l1, 1});
  Vector f = start;
  Evaluation at, next;
  Matrix h;
  evaluate(parts, proximal, f, at);
  bool stalled = false;
  for (int iteration = 0;; ++iteration) {
    const Certificate now = certificate(at, f, l1, options);
    if (reached(now, f, options)) return {.f = f, .certificate = now, .iterations = iteration};
    const bool over = stalled || iteration == options.max_iterations;
    if (over && options.reach != nullptr) return descend(parts, proximal, f, options);
    if (over || (now.rounding >= options.tolerance && now.gradient_norm <= now.rounding))
      refuse(now, options.tolerance, iteration);
    const double size = shortest_subgradient(at.gradient, f, l1).norm(),
                 target = std::max(options.tolerance - now.rounding, 0.1 * options.tolerance);
    hessian(parts, proximal, at, h);
    h.triangularView<Eigen::StrictlyUpper>() = h.transpose();
    // A pooled problem with l1 alone may be flat: some curvature, fading with the gradient, keeps the model's minimum
    // unique and near. It bends the steps, not the goal: J decides on steps and the certificate on the end.
    h.diagonal().array() += 1e-3 * size / (1 + f.norm()) + 1e-12 * h.diagonal().maxCoeff();
    Model model(f, at.gradient, h, l1);
    const Vector direction = model.minimise(0.01 * std::min(size, target)) - f;
    const double before = at.value + l1 * f.lpNorm<1>(),
                 slope = at.gradient.dot(direction) + l1 * ((f + direction).lpNorm<1>() - f.lpNorm<1>());
    // Armijo's rule on J while its decrease is visible beside its rounding, then on the shortest subgradient.
    const bool visible = -slope > 1e-11 * (1 + std::abs(before));
    double step = 1;
    bool accepted = false;
    for (int halving = 0; halving < 50 && !accepted; ++halving, step /= 2) {
      const Vector trial = step == 1 ? Vector(f + direction) : Vector(f + step * direction);
      evaluate(parts, proximal, trial, next);
      accepted = visible ? next.value + l1 * trial.lpNorm<1>() <= before + 1e-4 * step * slope
                         : shortest_subgradient(next.gradient, trial, l1).norm() <= (1 - 1e-4 * step) * size;
      if (accepted) {
        f = trial;
        std::swap(at, next);
      }
    }
    stalled = !accepted;
  }
}

}  // namespace parley::problem
