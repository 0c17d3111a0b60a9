#include "parley/problem/loss.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "parley/base/error.h"

namespace parley::problem {
namespace {

double product_up(double a, double b) {
  return std::nextafter(a * b, std::numeric_limits<double>::infinity());
}

}  // namespace

double Loss::weight_of(double label) const {
  if (!weighted()) return 1;
  return class_weights[kind == LossKind::softmax ? static_cast<std::size_t>(label) : label > 0 ? 1 : 0];
}

double Loss::largest_weight() const {
  return weighted() ? *std::ranges::max_element(class_weights) : 1;
}

double Loss::value(double score, double label) const {
  return weight_of(label) * plain_value(score, label);
}

double Loss::slope(double score, double label) const {
  return weight_of(label) * std::clamp(plain_slope(score, label), -cap, cap);
}

double Loss::curvature(double score, double label) const {
  return weight_of(label) * plain_curvature(score, label);
}

double Loss::plain_value(double score, double label) const {
  switch (kind) {
    case LossKind::logistic: {  // two-sided: e^−|z| never overflows
      const double z = label * score;
      return std::max(-z, 0.0) + std::log1p(std::exp(-std::abs(z)));
    }
    case LossKind::huber_hinge: {
      const double z = label * score;
      if (z > 1 + width) return 0;
      if (z < 1 - width) return 1 - z;
      return (1 + width - z) * (1 + width - z) / (4 * width);
    }
    case LossKind::hinge:
      return std::max(0.0, 1 - label * score);
    case LossKind::huber: {
      const double r = std::abs(score - label);
      return r <= width ? r * r / 2 : width * r - width * width / 2;
    }
    case LossKind::squared:
      return (score - label) * (score - label) / 2;
    case LossKind::softmax:
      break;
  }
  expects(false, "one score per row");
  return 0;
}

double Loss::plain_slope(double score, double label) const {
  switch (kind) {
    case LossKind::logistic: {
      const double z = label * score, e = std::exp(-std::abs(z));
      return -label * (z >= 0 ? e / (1 + e) : 1 / (1 + e));
    }
    case LossKind::huber_hinge: {
      const double z = label * score;
      if (z > 1 + width) return 0;
      if (z < 1 - width) return -label;
      return -label * std::min(1.0, (1 + width - z) / (2 * width));
    }
    case LossKind::hinge:  // a subgradient: 0 at the kink
      return label * score < 1 ? -label : 0;
    case LossKind::huber:
      return std::clamp(score - label, -width, width);
    case LossKind::squared:
      return score - label;
    case LossKind::softmax:
      break;
  }
  expects(false, "one score per row");
  return 0;
}

double Loss::plain_curvature(double score, double label) const {
  switch (kind) {
    case LossKind::logistic: {  // s(1 − s) with s = |slope|
      const double e = std::exp(-std::abs(score));
      return e / ((1 + e) * (1 + e));
    }
    case LossKind::huber_hinge:
      return std::abs(1 - label * score) <= width ? 1 / (2 * width) : 0;
    case LossKind::hinge:
      return 0;
    case LossKind::huber:
      return std::abs(score - label) <= width ? 1 : 0;
    case LossKind::squared:
      return 1;
    case LossKind::softmax:
      break;
  }
  expects(false, "one score per row");
  return 0;
}

double Loss::gradient_bound() const {
  return weighted() ? product_up(largest_weight(), plain_gradient_bound()) : plain_gradient_bound();
}

double Loss::curvature_bound() const {
  return weighted() ? product_up(largest_weight(), plain_curvature_bound()) : plain_curvature_bound();
}

double Loss::plain_gradient_bound() const {
  if (kind == LossKind::softmax) return std::nextafter(std::numbers::sqrt2, 2);  // |p − e_y| ≤ √2, rounded up
  return std::min(cap, kind == LossKind::huber ? width : 1);
}

double Loss::plain_curvature_bound() const {
  switch (kind) {
    case LossKind::logistic:
      return 0.25;
    case LossKind::huber_hinge:
      return 1 / (2 * width);
    case LossKind::hinge:
      return std::numeric_limits<double>::infinity();
    case LossKind::huber:
    case LossKind::squared:
      return 1;
    case LossKind::softmax:
      return 0.5;
  }
  return 0;
}

std::string name_of(const Loss& loss) {
  return Choice<LossKind>(loss.kind).text;
}

}  // namespace parley::problem
