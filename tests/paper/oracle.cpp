#include "paper/oracle.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "parley/base/error.h"

namespace parley::paper {
namespace {

// L, dL/ds and d2L/ds2 of one record as functions of its scores s.
struct Slope {
  double value = 0;
  Vector first;
  Matrix second;
};

Slope one(double value, double first, double second) {
  return {.value = value, .first = Vector::Constant(1, first), .second = Matrix::Constant(1, 1, second)};
}

Slope slope(const Dense& d, const Vector& s, double y) {
  if (d.loss == "softmax") {
    const double most = s.maxCoeff();
    Vector p = (s.array() - most).exp();
    const double sum = p.sum();
    p /= sum;
    const auto label = static_cast<Index>(y);
    return {.value = most + std::log(sum) - s[label],
            .first = p - Vector::Unit(s.size(), label),
            .second = Matrix(p.asDiagonal()) - p * p.transpose()};
  }
  if (d.loss == "huber") {
    const double r = s[0] - y, c = d.width;
    if (std::abs(r) <= c) return one(r * r / 2, r, 1);
    return one(c * std::abs(r) - c * c / 2, r > 0 ? c : -c, 0);
  }
  const double z = y * s[0];
  if (d.loss == "logistic")
    return one(z > 0 ? std::log1p(std::exp(-z)) : -z + std::log1p(std::exp(z)), -y / (1 + std::exp(z)),
               1 / ((1 + std::exp(z)) * (1 + std::exp(-z))));
  const double h = d.loss == "hinge" ? 0 : d.width;
  if (z >= 1 + h) return one(0, 0, 0);
  if (z < 1 - h || h == 0) return one(1 - z, -y, 0);
  return one((1 + h - z) * (1 + h - z) / (4 * h), -y * (1 + h - z) / (2 * h), 1 / (2 * h));
}

Matrix scores_of(const Dense& d, const Vector& f) {  // a row per record, a column per class
  return d.x * Eigen::Map<const Matrix>(f.data(), d.x.cols(), d.scores);
}

// Newton on the coordinates in `free`, the others held; stops when the gradient no longer shrinks.
template <class Gradient, class Hessian>
void newton(Vector& f, const std::vector<Index>& free, const Gradient& gradient, const Hessian& hessian) {
  const auto norm = [&](const Vector& at) { return gradient(at)(free).eval().norm(); };
  for (int iteration = 0; iteration < 100 && !free.empty(); ++iteration) {
    const Vector inside = hessian(f)(free, free).eval().llt().solve(-gradient(f)(free).eval());
    Vector direction = Vector::Zero(f.size());
    direction(free) = inside;
    double step = 1;
    const double now = norm(f);
    while (step > 1e-6 && norm(f + step * direction) >= now) step /= 2;
    if (step <= 1e-6) break;
    f += step * direction;
  }
}

}  // namespace

double Dense::value(const Vector& f) const {
  const Matrix s = scores_of(*this, f);
  double sum = 0;
  for (Index n = 0; n < s.rows(); ++n) sum += slope(*this, s.row(n), y[n]).value;
  return weight * sum + regularization / 2 * f.squaredNorm() + l1 * f.lpNorm<1>();
}

Vector Dense::loss_gradient(const Vector& f) const {
  const Matrix s = scores_of(*this, f);
  Matrix first(s.rows(), s.cols());
  for (Index n = 0; n < s.rows(); ++n) first.row(n) = slope(*this, s.row(n), y[n]).first;
  const Matrix g = weight * (x.transpose() * first);
  return Eigen::Map<const Vector>(g.data(), g.size());
}

Vector Dense::regularizer_gradient(const Vector& f) const {
  return regularization * f + l1 * f.unaryExpr([](double v) { return v > 0 ? 1.0 : v < 0 ? -1.0 : 0.0; });
}

Matrix Dense::hessian(const Vector& f) const {
  const Matrix s = scores_of(*this, f);
  const Index k = scores, d = x.cols();
  Matrix second(s.rows(), k * k), h = regularization * Matrix::Identity(f.size(), f.size());
  for (Index n = 0; n < s.rows(); ++n) {
    const Matrix m = slope(*this, s.row(n), y[n]).second;
    second.row(n) = Eigen::Map<const Eigen::RowVectorXd>(m.data(), k * k);
  }
  for (Index a = 0; a < k; ++a)
    for (Index b = 0; b < k; ++b)
      h.block(a * d, b * d, d, d) += weight * (x.transpose() * second.col(a * k + b).asDiagonal() * x);
  return h;
}

Vector minimise(const std::vector<Dense>& parts, const std::vector<double>& share, const Vector& linear,
                double quadratic) {
  const Index d = linear.size();
  double l1 = 0, lipschitz = quadratic;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    l1 += share[i] * parts[i].l1;
    lipschitz += share[i] * (parts[i].weight * parts[i].x.squaredNorm() * std::max(1.0, 0.5 / parts[i].width) +
                             parts[i].regularization);
  }
  const auto smooth = [&](const Vector& f) {
    Vector g = linear + quadratic * f;
    for (std::size_t i = 0; i < parts.size(); ++i)
      g += share[i] * (parts[i].loss_gradient(f) + parts[i].regularization * f);
    return g;
  };
  const auto hessian = [&](const Vector& f) {
    Matrix h = quadratic * Matrix::Identity(d, d);
    for (std::size_t i = 0; i < parts.size(); ++i) h += share[i] * parts[i].hessian(f);
    return h;
  };
  Vector f = Vector::Zero(d);
  std::vector<Index> free;
  if (l1 > 0) {  // FISTA, restarted when it turns back (O'Donoghue, Candes)
    Vector from = f;
    double t = 1;
    for (int k = 0; k < 20000; ++k) {
      const Vector ahead = from - smooth(from) / lipschitz;
      const Vector next =
          ahead.unaryExpr([&](double v) { return std::copysign(std::max(0.0, std::abs(v) - l1 / lipschitz), v); });
      const Vector moved = next - f;
      if (moved.norm() <= 1e-15 * next.norm() && k > 10) break;
      const bool back = (from - next).dot(moved) > 0;
      const double later = back ? 1 : (1 + std::sqrt(1 + 4 * t * t)) / 2;
      from = next + (back ? 0 : (t - 1) / later) * moved;
      f = next;
      t = later;
    }
  }
  const Vector sign = f.unaryExpr([](double v) { return v > 0 ? 1.0 : v < 0 ? -1.0 : 0.0; });
  for (Index j = 0; j < d; ++j)
    if (l1 == 0 || sign[j] != 0) free.push_back(j);
  newton(f, free, [&](const Vector& at) { return Vector(smooth(at) + l1 * sign); }, hessian);
  if (l1 > 0) {
    const Vector g = smooth(f);
    for (Index j = 0; j < d; ++j)
      expects(sign[j] == 0 ? std::abs(g[j]) <= l1 * (1 + 1e-12) : f[j] * sign[j] > 0, "the optimality condition of l1");
  }
  return f;
}

Vector minimise(const Dense& part, const Vector& linear, double quadratic) {
  return minimise({part}, {1}, linear, quadratic);
}

double total(const std::vector<Dense>& parts, const Vector& f) {
  double sum = 0;
  for (const Dense& d : parts) sum += d.value(f);
  return sum;
}

}  // namespace parley::paper
