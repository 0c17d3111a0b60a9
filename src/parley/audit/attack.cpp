#include "parley/audit/attack.h"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "parley/base/error.h"
#include "parley/problem/solve.h"

namespace parley::audit {
namespace {

// The parts of w(1) = G₁ + ηP₁ and w(2) = G₂ + θD + ηP₂.
struct Terms {
  Vector g1, p1, g2, p2, d;
};

Terms terms_of(const AttackFacts& facts, const std::array<Heard, 3>& h) {
  const double v = facts.degree;
  return {.g1 = problem::gradient(facts.known, h[1].f),
          .p1 = v * (2 * h[1].f - h[0].f) - h[0].neighbours_sum,
          .g2 = problem::gradient(facts.known, h[2].f),
          .p2 = v * (2 * h[2].f - h[1].f) - h[1].neighbours_sum,
          .d = v * h[1].f - h[1].neighbours_sum};
}

// The zeros of τ ↦ τ·weight − 1 − e^{τ·slope} on τ > 0: v = τ·w then has the slope size s that makes w = weight·s·v.
// Convex or monotone, hence at most two; found by bisection between 0, the peak and a far point.
std::vector<double> lengths(double weight, double slope) {
  const auto gap = [=](double tau) { return tau * weight - 1 - std::exp(tau * slope); };
  double peak = 1 / weight;
  if (slope > 0)
    peak = std::log(weight / slope) / slope;
  else
    while (gap(peak) <= 0) peak *= 2;
  if (!(peak > 0) || gap(peak) < 0) return {};
  const auto zero_between = [&](double negative, double positive) {
    for (int i = 0; i < 200; ++i) {
      const double middle = (negative + positive) / 2;
      (gap(middle) < 0 ? negative : positive) = middle;
    }
    return positive;
  };
  std::vector<double> zeros{zero_between(0, peak)};
  if (slope > 0) {
    double far = 2 * peak;
    while (gap(far) >= 0) far *= 2;
    zeros.push_back(zero_between(far, peak));
  }
  return zeros;
}

}  // namespace

std::array<Vector, 2> missing_gradients(const AttackFacts& facts, const std::array<Heard, 3>& heard,
                                        const Steps& steps) {
  const Terms p = terms_of(facts, heard);
  return {p.g1 + steps.penalty * p.p1, p.g2 + steps.dual_step * p.d + steps.penalty * p.p2};
}

std::array<Vector, 2> missing_shifts(const AttackFacts& facts, const std::array<Heard, 3>& heard, const Steps& steps) {
  const double v = facts.degree;
  const auto shift = [&](const Heard& before, const Heard& now, const Vector& twice_dual) {
    const problem::Proximal terms{.linear = twice_dual - steps.penalty * (v * before.f + before.neighbours_sum),
                                  .quadratic = 2 * steps.penalty * v};
    return Vector(now.f - problem::argmin(facts.known, terms, before.f, {.tolerance = 1e-8 * facts.known.weight}).f);
  };
  return {shift(heard[0], heard[1], Vector::Zero(heard[0].f.size())),
          shift(heard[1], heard[2], steps.dual_step * (v * heard[1].f - heard[1].neighbours_sum))};
}

std::optional<Steps> recover_steps(const AttackFacts& facts, const std::array<Heard, 3>& heard) {
  const Terms p = terms_of(facts, heard);
  if (p.g1.size() <= 4) return std::nullopt;
  // G₂ + ηP₂ + θD = kG₁ + (kη)P₁, columns scaled to length 1.
  Matrix columns(p.g1.size(), 4);
  columns << p.p2, p.d, -p.g1, -p.p1;
  const Vector scale = columns.colwise().norm().transpose();
  if (scale.minCoeff() == 0) return std::nullopt;
  const Matrix scaled = columns * scale.cwiseInverse().asDiagonal();
  const Eigen::ColPivHouseholderQR<Matrix> factor(scaled);
  if (factor.rank() < 4) return std::nullopt;
  const Vector linear = factor.solve(-p.g2).cwiseQuotient(scale);
  Steps steps{.penalty = linear[0], .dual_step = linear[1]};
  double k = linear[2];
  // Gauss–Newton on the three numbers that there really are.
  for (int i = 0; i < 20; ++i) {
    const Vector w1 = p.g1 + steps.penalty * p.p1,
                 residual = p.g2 + steps.penalty * p.p2 + steps.dual_step * p.d - k * w1;
    Matrix derivative(w1.size(), 3);
    derivative << p.p2 - k * p.p1, p.d, -w1;
    const Vector sizes = derivative.colwise().norm().transpose();
    const Vector step =
        (derivative * sizes.cwiseInverse().asDiagonal()).colPivHouseholderQr().solve(-residual).cwiseQuotient(sizes);
    steps.penalty += step[0];
    steps.dual_step += step[1];
    k += step[2];
  }
  return steps;
}

std::optional<Vector> recover_row(const AttackFacts& facts, const std::array<Heard, 3>& heard, const Steps& steps) {
  expects(facts.known.loss.kind == problem::LossKind::logistic && !facts.known.loss.weighted(),
          "the logistic loss, without class weights");
  const auto [w1, w2] = missing_gradients(facts, heard, steps);
  std::optional<Vector> best;
  double smallest = std::numeric_limits<double>::infinity();
  for (const double tau : lengths(facts.known.weight, heard[1].f.dot(w1))) {
    const Vector v = tau * w1;
    const double s2 = 1 / (1 + std::exp(heard[2].f.dot(v)));
    const double misfit = (w2 - facts.known.weight * s2 * v).norm();  // the second round decides between two lengths
    if (misfit < smallest) {
      smallest = misfit;
      best = v;
    }
  }
  return best;
}

}  // namespace parley::audit
