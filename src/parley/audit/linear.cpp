#include "parley/audit/linear.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "parley/algorithm/planner.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/problem/solve.h"

namespace parley::audit {
namespace {

using algorithm::Regularizer;
using problem::LossKind;

// ∇L(v; x, y), or the product's subgradient of the hinge, which is 0 at the kink.
Vector gradient(const problem::Loss& loss, const Vector& x, double y, const Vector& v) {
  if (loss.kind == LossKind::softmax) {  // (q − e_y)xᵀ, class after class
    const Eigen::Map<const Matrix> by_class(v.data(), x.size(), loss.classes);
    const Vector scores = by_class.transpose() * x;
    Vector q = (scores.array() - scores.maxCoeff()).exp();
    q /= q.sum();
    q[static_cast<Index>(y)] -= 1;
    return (x * q.transpose()).reshaped();
  }
  const double z = y * v.dot(x);
  switch (loss.kind) {
    case LossKind::logistic:
      return -y / (1 + std::exp(z)) * x;
    case LossKind::hinge:
      return (z < 1 ? -y : 0) * x;
    case LossKind::huber_hinge:
      return -y * std::clamp((1 + loss.width - z) / (2 * loss.width), 0.0, 1.0) * x;
    default:
      expects(false, "a loss of classification");
      return {};
  }
}

// Of two classes the weight of the negative comes first.
double class_weight(const problem::Loss& loss, double label) {
  if (loss.class_weights.empty()) return 1;
  if (loss.kind == LossKind::softmax) return loss.class_weights.at(static_cast<std::size_t>(label));
  return label < 0 ? loss.class_weights.front() : loss.class_weights.back();
}

double largest_weight(const problem::Loss& loss) {
  double most = loss.class_weights.empty() ? 1 : 0;
  for (const double w : loss.class_weights) most = std::max(most, w);
  return most;
}

double gradient_bound(const problem::Loss& loss) {
  return largest_weight(loss) * (loss.kind == LossKind::softmax ? std::numbers::sqrt2 : 1);
}

// Σ_n c(r_n, v).
Vector contributions(const problem::Problem& p, const Vector& v) {
  const data::Rows& rows = *p.rows;
  Vector sum = Vector::Zero(v.size());
  for (std::size_t n = 0; n < rows.count(); ++n) {
    Vector x = Vector::Zero(rows.features);
    for (std::size_t k = rows.start[n]; k < rows.start[n + 1]; ++k) x[rows.column[k]] = rows.value[k];
    sum += p.weight * class_weight(p.loss, rows.label[n]) * gradient(p.loss, x, rows.label[n], v);
  }
  return sum;
}

// The attacker's view between two updates: released values only.
class Attacker {
 public:
  explicit Attacker(const Scene& scene) : scene_(scene), s_(scene.schedule), v_(scene.start) {
    dual_ = Vector::Zero(v_.size());
    if (s_.algorithm.star) v_.setZero();
  }

  Evidence weigh(const Transcript& transcript) {
    for (const Message& m : transcript) {
      weigh(m);
      see(m);
    }
    evidence_.quiet = noises_.quiet();
    evidence_.echo = noises_.echo();
    return evidence_;
  }

  // The message that leads the next release to where the next gradients are taken: the equations solved for w̄ or f_1,
  // without the rows.
  Vector answer(const Transcript& heard) {
    for (const Message& m : heard) see(m);
    const std::size_t k = std::min(heard.size() + (s_.algorithm.linear ? 1 : 0), scene_.points.size() - 1);
    const Vector& target = scene_.points[k];
    const algorithm::PrivateRound& now = round();
    const bool first = heard.empty();  // the dual has not moved yet
    Vector sent;
    if (!s_.algorithm.linear) {  // κ·target = γ + ρw̄
      const Vector wanted = now.strong_convexity * target - dual_;
      sent = first ? Vector(wanted / now.penalty) : Vector((wanted / now.penalty + v_) / 2);
    } else {
      const Vector pull = now.divisor * (v_ - target) - regularizer(v_);
      const double answered = first ? 0 : dual_weight() * dual_step(now);
      sent = v_ - (pull - dual_weight() * dual_) / (now.penalty + answered);
    }
    expects(sent.cwiseAbs().maxCoeff() <= s_.release_bound, "an answer that the node would accept");
    return sent;
  }

 private:
  const algorithm::PrivateRound& round() const {
    return s_.private_rounds[std::min(updates_, s_.private_rounds.size() - 1)];
  }

  Vector regularizer(const Vector& v) const { return s_.regularization * v + s_.l1 * v.cwiseSign(); }

  // −γ, γ⁺ = γ − ρ(w̃ − w̄) of a provider; 2λ, λ⁺ = λ + (θ/2)(f − f_1) of a peer.
  double dual_weight() const { return s_.algorithm.star ? -1 : 2; }
  double dual_step(const algorithm::PrivateRound& r) const { return s_.algorithm.star ? -r.penalty : r.dual_step / 2; }

  // γ or λ as it stands in the update that has received this.
  Vector settled(const Vector& received) const {
    if (updates_ == 0) return dual_;
    return dual_ + dual_step(s_.private_rounds[updates_ - 1]) * (v_ - received);
  }

  void see(const Message& m) {
    dual_ = settled(m.received);
    v_ = m.value;
    ++updates_;
  }

  // What the update gives without noise in one world.
  Vector without_noise(int world, const Vector& dual, const Message& m) const {
    const problem::Problem p = scene_.problem(world);
    const algorithm::PrivateRound& now = round();
    if (s_.algorithm.linear) {
      const Vector pull = now.penalty * (v_ - m.received) + dual_weight() * dual;
      return v_ - (contributions(p, v_) + regularizer(v_) + pull) / now.divisor;
    }
    const problem::Proximal terms{.linear = -dual - now.penalty * m.received, .quadratic = now.penalty};
    const Vector w = problem::argmin(p, terms, m.received, {.tolerance = 1e-3 * s_.tolerance}).f;
    Vector residual = contributions(p, w) + regularizer(w) - dual + now.penalty * (w - m.received);
    for (Index j = 0; j < w.size(); ++j)  // a kink: any slope within ±l1 will do
      if (w[j] == 0) residual[j] = std::max(0.0, std::abs(residual[j]) - s_.l1);
    expects(residual.norm() <= 1e-2 * s_.tolerance, "a minimum by the equations too");
    return w;
  }

  // Standard deviation, or 1/rate, of the noise on what is released.
  double scale() const {
    const algorithm::PrivateRound& now = round();
    const bool gaussian = s_.noise == algorithm::Noise::gaussian;
    if (!s_.algorithm.linear) return gaussian ? now.output_scale : 1 / now.output_rate;
    double scale = (gaussian ? now.gradient_scale : 1 / now.gradient_rate) / now.divisor;
    if (s_.diameter_at_point)
      scale *= (s_.weight * largest_weight(s_.loss) * steepest(v_.norm()).diameter + 2 * s_.tolerance) /
               (2 * s_.weight * gradient_bound(s_.loss) + 2 * s_.tolerance);
    return scale;
  }

  void weigh(const Message& m) {
    const Vector dual = settled(m.received);
    if (m.dual) {  // −ρ(ŵ − w̄) came on top of the dual sent before, ŵ the last update without noise
      const Vector betrayed = m.received + (dual_ - *m.dual) / s_.private_rounds[updates_ - 1].penalty;
      evidence_.bare = -(betrayed - bare_).norm();
    }
    const double unit = scale();
    std::array<double, 2> log_density{};
    for (const int world : {0, 1}) {
      const Vector bare = without_noise(world, dual, m), noise = m.value - bare;
      const double size = noise.norm() / unit;
      log_density[static_cast<std::size_t>(world)] = s_.noise == algorithm::Noise::gaussian ? -size * size / 2 : -size;
      evidence_.log_density[static_cast<std::size_t>(world)] += log_density[static_cast<std::size_t>(world)];
      if (world == 1) continue;
      noises_.add(noise, size);
      bare_ = bare;
    }
    evidence_.log_ratio += log_density[0] - log_density[1];
  }

  const Scene& scene_;
  const algorithm::Schedule& s_;
  Vector v_, dual_;          // the last release, and the dual of the update that gave it
  Vector bare_;              // that update in D, without noise
  std::size_t updates_ = 0;  // seen so far
  Noises noises_;
  Evidence evidence_;
};

Vector answer(const Scene& scene, const Transcript& heard) {
  return Attacker(scene).answer(heard);
}

}  // namespace

Steepest steepest(double norm) {
  const auto at = [norm](double a) { return 2 * std::sqrt(1 - a * a) / (1 + std::exp(-a * norm)); };
  double low = 0, high = 1;  // one maximum
  for (int i = 0; i < 50; ++i) {
    const double left = low + (high - low) * 0.382, right = low + (high - low) * 0.618;
    (at(left) < at(right) ? low : high) = at(left) < at(right) ? left : right;
  }
  const double a = norm == 0 ? 0 : (low + high) / 2;
  return {.a = a, .diameter = at(a)};
}

Vector far_point(const problem::Loss& loss, double norm) {
  if (loss.kind != LossKind::softmax) return Vector{{0, -norm}};
  Vector v = Vector::Zero(2 * static_cast<Index>(loss.classes));
  v[1] = norm;  // class 0 against class 1, which the rows are of
  return v;
}

Scene make_linear_scene(const LinearOptions& options) {
  const auto b = static_cast<double>(options.records), rounds = static_cast<double>(options.rounds);
  const bool gaussian = options.noise == algorithm::Noise::gaussian;
  algorithm::Options o;
  o.algorithm = options.algorithm;
  o.rounds = options.rounds;
  o.loss = options.loss;
  o.class_weight = options.class_weight;
  o.loss_weight = 1;
  o.regularizer = options.regularizer;
  o.regularization = options.regularizer == Regularizer::l2 ? 1e-6 : 0.01;
  o.noise = options.noise;
  o.tolerance = 1e-6;
  o.diameter = options.at_point ? algorithm::Diameter::at_point : algorithm::Diameter::worst;
  const algorithm::Algorithm& a = algorithm::algorithm_named(o.algorithm);
  const bool linear = a.linear;
  const double part = options.divisor / (linear ? 5 : 50);  // ρ, or 2η
  o.penalty = {!a.star ? part / 2 : part};
  if (linear) o.step_size = number(1 / (options.divisor - part));
  const problem::Loss loss = algorithm::loss_of(o, 3);
  const double quadratic = o.regularizer == Regularizer::l2 ? 1 : o.regularizer == Regularizer::l1 ? 0 : 1 - o.l1_share;
  const double convexity = linear ? 1 : part + quadratic * *o.regularization / 2;
  const double sensitivity = (2 * gradient_bound(loss) + 2 * *o.tolerance) / (b * convexity);
  if (gaussian)
    o.noise_scale = {sensitivity * std::sqrt(rounds) / options.claim};
  else
    o.noise_rate = {options.claim / (rounds * sensitivity)};
  const Vector point = far_point(loss, options.norm);
  return {
      .schedule = algorithm::make_plan(o, {.degree = {1, 1}, .records = {b, b}, .features = 2, .classes = 3}).nodes[0],
      .rows = opposed_rows(options.records, steepest(options.norm).a),
      .start = point,
      .neighbour = {},
      .points = {point},
      .answer = answer};
}

Evidence weigh_linear(const Scene& scene, const Transcript& transcript) {
  return Attacker(scene).weigh(transcript);
}

}  // namespace parley::audit
