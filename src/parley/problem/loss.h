// The losses of docs/check/algorithms.md. A loss is a function of the score fᵀx and the label; what privacy needs of it are
// two bounds.
//   logistic     ln(1 + e^−z),                                       z = y·score       G = 1   c₁ = 1/4
//   huber-hinge  0 | (1 + h − z)²/(4h) | 1 − z   for z > 1+h | |1−z| ≤ h | z < 1−h     G = 1   c₁ = 1/(2h)
//   hinge        max(0, 1 − z)                                                         G = 1   no c₁ (linearised only)
//   huber        r²/2 | c|r| − c²/2              for |r| ≤ c | beyond,  r = score − y  G = c   c₁ = 1
//   squared      r²/2                                                                no G, but |y| ≤ 1 at score 0   c₁ = 1
//   softmax      ln Σ_c e^{s_c} − s_y            one score per class, y a class number G = √2  c₁ = 1/2
// With class weights a row's loss is w_y L, and both bounds are those of L times the largest weight.
#pragma once
#include <limits>
#include <string>
#include <vector>

#include "parley/base/word.h"

namespace parley::problem {

enum class LossKind { logistic, huber_hinge, hinge, huber, squared, softmax };
constexpr Words<LossKind, 6> words(LossKind) {
  return {{{"logistic", LossKind::logistic},
           {"huber-hinge", LossKind::huber_hinge},
           {"hinge", LossKind::hinge},
           {"huber", LossKind::huber},
           {"squared", LossKind::squared},
           {"softmax", LossKind::softmax}}};
}

struct Loss {
  LossKind kind = LossKind::logistic;
  double width = 0.5;  // h of the smoothed hinge, c of the residual; the others have none
  int classes = 2;     // softmax only
  // Slopes are cut at ± this: the gradient of another convex loss. For sums of gradients: value() and curvature() stay.
  double cap = std::numeric_limits<double>::infinity();
  // w of the classes −1 and +1, softmax: of 0, …, K−1; empty: all 1. The cap is that of L, so that a slope stays below
  // w_y · cap. Privacy: public numbers. Weights made from the counts of classes would be a release of these.
  std::vector<double> class_weights{};

  // Of the losses with one score per row (all but softmax), the class weight included.
  double value(double score, double label) const;
  double slope(double score, double label) const;      // d/dscore, |slope| ≤ gradient_bound
  double curvature(double score, double label) const;  // d²/dscore², 0 ≤ curvature ≤ curvature_bound
  double gradient_bound() const;                       // G · largest weight, rounded up; squared: at score 0 alone
  double curvature_bound() const;                      // c₁ · largest weight, rounded up; infinite for the hinge
  double plain_gradient_bound() const;                 // G and c₁ of L
  double plain_curvature_bound() const;
  double weight_of(double label) const;  // w_y; 1 without class weights
  double largest_weight() const;
  bool weighted() const { return !class_weights.empty(); }
  bool smooth() const { return kind != LossKind::hinge; }
  int scores() const { return kind == LossKind::softmax ? classes : 1; }  // a row's scores; f holds scores() × features
  bool classifies() const { return kind != LossKind::huber && kind != LossKind::squared; }

 private:
  double plain_value(double score, double label) const;
  double plain_slope(double score, double label) const;  // not cut
  double plain_curvature(double score, double label) const;
};

std::string name_of(const Loss& loss);

}  // namespace parley::problem
