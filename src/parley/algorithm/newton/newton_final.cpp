#include "parley/algorithm/newton/newton_final.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "parley/algorithm/private_update.h"
#include "parley/base/error.h"

namespace parley::algorithm::newton {
namespace {

constexpr double times_norm_of_noise = 1.5;  // (a)
constexpr double least_eigenvalue = 1e-9;    // of H̃ where there is no noise: collinear features
constexpr double third_derivative = 0.0481, kurtosis = 1.7320508075688772;  // (b)
constexpr double most_of_error = 0.5;

}  // namespace

Estimate estimate(const FinalPhase& plan, double n, const Vector& f, const FinalSums& m, const Matrix& moments) {
  const FinalNoise& noise = plan.noise.value();
  const Index d = f.size();
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(m.hessian);
  expects(eigen.info() == Eigen::Success, "the eigenvalues of a symmetric matrix");
  const double s_h = noise.hessian / n;
  const double less = noise_share(plan.loss, 1, plan.tolerance, plan.diameter_at_point, f);
  const double sigma = noise.gradient * less / n;
  Estimate e;
  e.needed =
      std::max(times_norm_of_noise * std::numbers::sqrt2 * s_h * std::sqrt(static_cast<double>(d)), least_eigenvalue);
  e.smallest = eigen.eigenvalues().minCoeff();
  const Vector raised = eigen.eigenvalues().cwiseMax(e.needed);
  e.inverse = eigen.eigenvectors() * raised.cwiseInverse().asDiagonal() * eigen.eigenvectors().transpose();
  e.value = f - e.inverse * m.gradient;                      // (F)
  const Vector by = e.value - f;                             // D
  Matrix privacy = (s_h * s_h / 2) * (by * by.transpose());  // P
  privacy.diagonal().array() += sigma * sigma + s_h * s_h / 2 * by.squaredNorm();
  const Matrix of_noise = e.inverse * privacy * e.inverse;
  if (plan.squared()) {
    const double residual = m.square + m.gradient.dot(e.value) + (e.inverse * privacy).trace();  // σ̂²
    e.sampling = e.inverse * (residual / n);
  } else {
    e.moments = moments;
    e.departure = std::max(0.0, by.dot(moments * by) - (moments * of_noise).trace());
    e.sampling = e.inverse * m.spread * e.inverse / n;
  }
  e.variance = e.sampling + of_noise;  // (V)
  return e;
}

Combination combination(const Estimate& e, const Vector& k) {
  const double square = k.dot(e.variance * k), sampling = k.dot(e.sampling * k);
  Combination c{.value = k.dot(e.value),
                .standard_error = std::sqrt(std::max(square, 0.0)),
                .sampling_error = std::sqrt(std::max(sampling, 0.0))};
  double left_out = 0;
  if (e.moments.size() > 0) {
    const Vector a = e.inverse * k;
    left_out = third_derivative * kurtosis * e.departure * std::sqrt(std::max(0.0, a.dot(e.moments * a)));
  }
  c.identified = e.curved() && square > 0 && sampling > 0 && left_out <= most_of_error * c.standard_error;
  return c;
}

}  // namespace parley::algorithm::newton
