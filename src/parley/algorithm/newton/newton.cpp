#include "parley/algorithm/newton/newton.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "parley/algorithm/newton/spectrum.h"
#include "parley/algorithm/private_update.h"
#include "parley/base/error.h"

namespace parley::algorithm::newton {
namespace {

constexpr int most_sweeps = 1000;  // over the coordinates, in a proximal step

double soft_threshold(double x, double by) {
  return x > by ? x - by : x < -by ? x + by : 0;
}

}  // namespace

Layout Terms::layout(long round) const {
  Layout of{.gradient = dimension(), .cut = biased(round)};
  const Index all = features * (features + 1) / 2;
  if (round > main_rounds()) {
    of.hessian = all;
    if (final.squared())
      of.square = 1;
    else
      of.spread = all;
  } else if (round == 1 && !moments_known) {
    of.curvature = shape == Shape::full ? all : shape == Shape::diagonal ? features : 0;
  }
  return of;
}

Vector packed(const Matrix& lower) {
  const Index d = lower.cols();
  Vector numbers(d * (d + 1) / 2);
  for (Index j = 0, at = 0; j < d; ++j)
    for (Index i = j; i < d; ++i) numbers[at++] = i == j ? lower(i, j) : std::numbers::sqrt2 * lower(i, j);
  return numbers;
}

Matrix unpacked(const Vector& numbers, Index d) {
  expects(numbers.size() == d * (d + 1) / 2, "a triangle of numbers");
  Matrix whole(d, d);
  for (Index j = 0, at = 0; j < d; ++j)
    for (Index i = j; i < d; ++i, ++at)
      whole(i, j) = whole(j, i) = i == j ? numbers[at] : numbers[at] / std::numbers::sqrt2;
  return whole;
}

Curvature::Curvature(const Terms& t, const Vector& moments, double mean) : terms_(t) {
  if (t.shape == Shape::full) {
    spectrum_ = spectrum_of(moments, mean, t.features);
    inverse_ = (t.c1 * spectrum_->values.cwiseMax(t.floor)).array() + t.ridge;
  } else if (t.shape == Shape::diagonal) {
    inverse_ = ((t.c1 * t.entries * mean * moments.array()).max(t.c1 * t.floor) + t.ridge).min(t.c1 + t.ridge);
  } else {
    inverse_ = Vector::Constant(t.features, t.c1 + t.ridge);
  }
  if (t.l1 > 0 && spectrum_) matrix_ = spectrum_->vectors * inverse_.asDiagonal() * spectrum_->vectors.transpose();
  inverse_ = inverse_.cwiseInverse();
}

// λ₁ = 0: f − M⁻¹ pull. Otherwise coordinates in turn until none moves: M is positive definite, so they settle.
void Curvature::step_of_one_score(Eigen::Ref<Vector> f, const Vector& pull) const {
  if (terms_.l1 == 0) {
    if (spectrum_)
      f -= spectrum_->vectors * inverse_.cwiseProduct(spectrum_->vectors.transpose() * pull);
    else
      f -= inverse_.cwiseProduct(pull);
    return;
  }
  if (matrix_.size() == 0) {
    for (Index j = 0; j < f.size(); ++j) f[j] = soft_threshold(f[j] - inverse_[j] * pull[j], inverse_[j] * terms_.l1);
    return;
  }
  Vector slope = pull;  // of the quadratic, at u
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    double moved = 0;
    for (Index j = 0; j < f.size(); ++j) {
      const double m = matrix_(j, j), u = soft_threshold(f[j] - slope[j] / m, terms_.l1 / m), by = u - f[j];
      if (by == 0) continue;
      slope += by * matrix_.col(j);
      f[j] = u;
      moved = std::max(moved, std::abs(by));
    }
    if (moved <= 0.25 * terms_.grid) return;
  }
}

Vector Curvature::step(const Vector& f, const Vector& mean_gradient, bool biased) const {
  Vector pull = mean_gradient + (biased ? terms_.ridge : 0) * f, next = f;
  const Index d = terms_.features;
  if (terms_.scores > 1) {  // Σ_k = 0: Böhning's matrix is singular along the mean over classes
    Vector mean = Vector::Zero(d);
    for (int k = 0; k < terms_.scores; ++k) mean += pull.segment(k * d, d);
    for (int k = 0; k < terms_.scores; ++k) pull.segment(k * d, d) -= mean / terms_.scores;
  }
  for (int k = 0; k < terms_.scores; ++k) step_of_one_score(next.segment(k * d, d), pull.segment(k * d, d));
  return next;
}

double counted_records(double of_moments, double now) {
  return std::min(of_moments, 2 * now);
}

State start(const Terms& t, const Vector& point) {
  State s;
  s.f = point.size() > 0 ? point : Vector::Zero(t.dimension());
  s.velocity = s.sum_of_points = Vector::Zero(t.dimension());
  return s;
}

Vector total_of(const privacy::Inbox& others, const Vector& own, int node) {
  Vector total = Vector::Zero(own.size());
  for (std::size_t j = 0; j <= others.size(); ++j) {
    const Vector& sums = static_cast<int>(j) == node ? own : *others[j - (static_cast<int>(j) > node ? 1 : 0)];
    expects(sums.size() == total.size(), "received sums of this round's size");
    total += sums;
  }
  return total;
}

Vector free_value(const State& s, const Terms& t, bool last) {
  return snap(last ? s.model() : s.f, t.release_bound, t.grid);
}

namespace {

// (F), and what it says of the coefficients.
State after_final(State s, const Terms& t, const Layout& of, const Vector& total) {
  const Vector means = total * (t.unit / t.records);
  FinalSums sums{.hessian = unpacked(means.segment(of.curvature, of.hessian), t.features),
                 .gradient = means.tail(of.gradient)};
  if (of.spread > 0) sums.spread = unpacked(means.segment(of.curvature + of.hessian, of.spread), t.features);
  if (of.square > 0) sums.square = means[of.curvature + of.hessian + of.spread];
  Matrix moments;
  if (s.moments.size() > 0) moments = unpacked(s.moments, t.features) * (s.moments_unit / s.moments_records);
  s.estimate = std::make_shared<const Estimate>(estimate(t.final, t.records, s.f, sums, moments));
  s.f = snap(s.estimate->value, t.release_bound, t.grid);
  return s;
}

}  // namespace

State after(State s, const Terms& t, const Vector& total) {
  expects(s.round >= 1 && s.round <= t.rounds, "a round of sums");
  const Layout of = t.layout(s.round);
  expects(total.size() == of.size(), "the sum of a round of sums");
  if (s.round > t.main_rounds()) return after_final(std::move(s), t, of, total);
  if (of.curvature > 0) {
    s.moments = total.head(of.curvature);
    s.moments_unit = t.unit;
    s.moments_records = t.records;
  }
  if (s.round == 1)
    s.curvature = std::make_shared<const Curvature>(
        t, s.moments, s.moments_unit / counted_records(s.moments_records, t.records));  // (Q)
  const Vector mean = total.tail(t.dimension()) * (t.unit / t.records);
  const Vector next = s.curvature->step(s.f, mean, t.biased(s.round));  // (N)
  s.velocity = t.momentum * s.velocity + (next - s.f);
  s.f = snap(t.momentum > 0 ? Vector(s.f + s.velocity) : next, t.release_bound, t.grid);
  if (t.average && 2L * (t.earlier + s.round) > t.earlier + t.main_rounds()) {  // the later half
    s.sum_of_points += s.f;
    ++s.counted;
  }
  if (t.final.steps() > 0 && s.round == t.main_rounds()) {  // the final phase begins at the mean, and is not averaged
    s.f = free_value(s, t, true);
    s.counted = 0;
  }
  return s;
}

}  // namespace parley::algorithm::newton
