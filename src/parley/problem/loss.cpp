#include "parley/problem/loss.h"

#include <algorithm>
#include <cmath>

#include "parley/base/error.h"

namespace parley::problem {

double Loss::value(double score, double label) const {
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
    case LossKind::huber: {
      const double r = std::abs(score - label);
      return r <= width ? r * r / 2 : width * r - width * width / 2;
    }
  }
  return 0;
}

double Loss::slope(double score, double label) const {
  switch (kind) {
    case LossKind::logistic: {
      const double z = label * score, e = std::exp(-std::abs(z));
      return -label * (z >= 0 ? e / (1 + e) : 1 / (1 + e));
    }
    case LossKind::huber_hinge: {
      const double z = label * score;
      if (z > 1 + width) return 0;
      if (z < 1 - width) return -label;
      return -label * (1 + width - z) / (2 * width);
    }
    case LossKind::huber:
      return std::clamp(score - label, -width, width);
  }
  return 0;
}

double Loss::curvature(double score, double label) const {
  switch (kind) {
    case LossKind::logistic: {  // s(1 − s) with s = |slope|
      const double e = std::exp(-std::abs(score));
      return e / ((1 + e) * (1 + e));
    }
    case LossKind::huber_hinge:
      return std::abs(1 - label * score) <= width ? 1 / (2 * width) : 0;
    case LossKind::huber:
      return std::abs(score - label) <= width ? 1 : 0;
  }
  return 0;
}

double Loss::gradient_bound() const {
  return kind == LossKind::huber ? width : 1;
}

double Loss::curvature_bound() const {
  switch (kind) {
    case LossKind::logistic:
      return 0.25;
    case LossKind::huber_hinge:
      return 1 / (2 * width);
    case LossKind::huber:
      return 1;
  }
  return 0;
}

Loss loss_named(const std::string& name, double width) {
  if (name == "logistic") return {.kind = LossKind::logistic, .width = width};
  if (name == "huber-hinge") return {.kind = LossKind::huber_hinge, .width = width};
  if (name == "huber") return {.kind = LossKind::huber, .width = width};
  throw Error({.what = "unknown loss",
               .value = "'" + name + "'",
               .allowed = "logistic, huber-hinge, huber",
               .where = "option --loss",
               .fix = "choose one of these"});
}

std::string name_of(const Loss& loss) {
  switch (loss.kind) {
    case LossKind::logistic:
      return "logistic";
    case LossKind::huber_hinge:
      return "huber-hinge";
    case LossKind::huber:
      return "huber";
  }
  return "";
}

}  // namespace parley::problem
