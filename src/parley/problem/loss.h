// The losses of docs/algorithms.md. A loss is a function of the score fᵀx and the label; what privacy needs of it are
// two bounds.
//   logistic     ln(1 + e^−z),                                       z = y·score       G = 1   c₁ = 1/4
//   huber-hinge  0 | (1 + h − z)²/(4h) | 1 − z   for z > 1+h | |1−z| ≤ h | z < 1−h     G = 1   c₁ = 1/(2h)
//   huber        r²/2 | c|r| − c²/2              for |r| ≤ c | beyond,  r = score − y   G = c   c₁ = 1
#pragma once
#include <string>

namespace parley::problem {

enum class LossKind { logistic, huber_hinge, huber };

struct Loss {
  LossKind kind = LossKind::logistic;
  double width = 0.5;  // h of the hinge, c of the residual; the logistic loss has none

  double value(double score, double label) const;
  double slope(double score, double label) const;      // d/dscore, |slope| ≤ gradient_bound
  double curvature(double score, double label) const;  // d²/dscore², 0 ≤ curvature ≤ curvature_bound
  double gradient_bound() const;                       // G
  double curvature_bound() const;                      // c₁
  bool classifies() const { return kind != LossKind::huber; }
};

Loss loss_named(const std::string& name, double width);  // "logistic", "huber-hinge", "huber"
std::string name_of(const Loss& loss);

}  // namespace parley::problem
