// The oracle: dense Eigen algebra, damped Newton, the papers' printed formulas; it shares no code with the product.
#pragma once
#include <string>
#include <vector>

#include "parley/base/vector.h"

namespace parley::paper {

// O_i(f) = C/B sum_n L(f; x_n, y_n) + (rho/N)/2 |f|^2 + (rho_1/N) |f|_1, of ZKL18 (2) and HHCG20 (1a).
//   logistic     ln(1 + exp(-z)), z = y f.x                     hinge   max(0, 1 - z)
//   huber-hinge  the hinge, smoothed for |1 - z| <= width       huber   r^2/2 up to |r| = width, r = f.x - y
//   softmax      ln sum_c exp(f_c.x) - f_y.x, f = (f_0, f_1, ...), y a class number
struct Dense {
  Matrix x;  // a row per record
  Vector y;
  std::string loss = "logistic";
  double width = 0.5;
  Index scores = 1;           // softmax: classes
  double weight = 0;          // C_i/B_i
  double regularization = 0;  // rho/N
  double l1 = 0;              // rho_1/N

  Index dimension() const { return scores * x.cols(); }
  double value(const Vector& f) const;
  Vector loss_gradient(const Vector& f) const;         // C/B sum_n L'; for the hinge a subgradient, 0 at the kink
  Vector regularizer_gradient(const Vector& f) const;  // sgn(0) = 0
  Vector gradient(const Vector& f) const { return loss_gradient(f) + regularizer_gradient(f); }
  Matrix hessian(const Vector& f) const;  // without l1
};

// argmin_f  sum_i share_i O_i(f) + linear.f + quadratic/2 |f|^2, to the last digits. Smooth: damped Newton; stops when
// the gradient no longer shrinks. With l1: accelerated proximal gradient finds the zeros and signs, Newton the rest.
Vector minimise(const std::vector<Dense>& parts, const std::vector<double>& share, const Vector& linear,
                double quadratic);
Vector minimise(const Dense& part, const Vector& linear, double quadratic);

double total(const std::vector<Dense>& parts, const Vector& f);  // sum_i O_i(f)

}  // namespace parley::paper
