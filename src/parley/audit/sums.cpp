#include "parley/audit/sums.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "parley/algorithm/planner.h"
#include "parley/audit/linear.h"
#include "parley/base/error.h"

namespace parley::audit {
namespace {

const std::array<Vector, 2>& pair_of(Pair pair) {
  static const double c = std::numbers::sqrt2 / 2 * (1 - 1e-15);
  static const std::array<Vector, 2> opposed{Vector{{1, 0}}, Vector{{-1, 0}}}, across{Vector{{1, 0}}, Vector{{0, 1}}},
      slanted{Vector{{c, c}}, Vector{{c, -c}}};
  return pair == Pair::opposed ? opposed : pair == Pair::across ? across : slanted;
}

Vector row_of(const data::Rows& rows, std::size_t n) {
  Vector x = Vector::Zero(rows.features);
  for (std::size_t k = rows.start[n]; k < rows.start[n + 1]; ++k) x[rows.column[k]] = rows.value[k];
  return x;
}

bool several_classes(const problem::Loss& loss) {
  return loss.kind == problem::LossKind::softmax;
}

// Of the negative and of the positive class.
double class_weight(const problem::Loss& loss, double label) {
  return loss.class_weights.empty() ? 1 : loss.class_weights[label < 0 ? 0 : 1];
}
double largest_weight(const problem::Loss& loss) {
  return std::max(class_weight(loss, -1), class_weight(loss, 1));
}

double slope_of(const problem::Loss& loss, double score, double label) {
  if (loss.kind == problem::LossKind::squared) return score - label;
  if (loss.kind == problem::LossKind::huber) return std::clamp(score - label, -loss.width, loss.width);
  if (loss.kind == problem::LossKind::huber_hinge)
    return -label * std::clamp((1 + loss.width - label * score) / (2 * loss.width), 0.0, 1.0);
  return -label / (1 + std::exp(label * score));
}

// cut(∇L(f; x, y)); of several classes (q − e_y)xᵀ, class after class, not cut.
Vector gradient_of(const problem::Loss& loss, double clip, const Vector& x, double label, const Vector& f) {
  if (!several_classes(loss)) return std::clamp(slope_of(loss, f.dot(x), label), -clip, clip) * x;
  Vector q = (f.reshaped(x.size(), loss.classes).transpose() * x).array().exp();
  q /= q.sum();
  q[static_cast<Index>(label)] -= 1;
  return (x * q.transpose()).reshaped();
}

double bound_of(const problem::Loss& loss) {
  return loss.kind == problem::LossKind::huber ? loss.width : several_classes(loss) ? std::numbers::sqrt2 : 1;
}

// Where the common point is to be: of three classes scores of `norm` for class 0 against the two others, Σ_k = 0.
Vector target_of(const problem::Loss& loss, double norm) {
  if (!several_classes(loss)) return Vector{{0, -norm}};
  return Vector{{0, 2 * norm / 3, 0, -norm / 3, 0, -norm / 3}};
}

class SumsAttacker {
 public:
  explicit SumsAttacker(const Scene& scene)
      : scene_(scene), s_(scene.schedule), f_(Vector::Zero(s_.sums->dimension())), velocity_(f_), points_(f_) {}

  Evidence weigh(const Transcript& transcript) {
    for (const Message& m : transcript) {
      if (round_ > 0) move(m.received);
      ++round_;
      if (round_ > s_.sums->rounds)
        evidence_.free_residual = std::max(0.0, (m.value - model()).cwiseAbs().maxCoeff() - s_.finest_grid());
      else
        weigh(m);
      last_ = m.value;
    }
    evidence_.quiet = noises_.quiet();
    evidence_.echo = !numbers_.several()  ? noises_.echo()
                     : !noises_.several() ? numbers_.echo()
                                          : std::max(noises_.echo(), numbers_.echo());
    return evidence_;
  }

  // The sums that lead the common point to the next target, after what was heard.
  Vector answer(const Transcript& heard) {
    if (heard.empty()) return Vector::Zero(f_.size());  // round 0: the start
    for (const Message& m : heard) {
      if (round_ > 0) move(m.received);
      ++round_;
      last_ = m.value;
    }
    const Vector& target = scene_.points[std::min(heard.size(), scene_.points.size()) - 1];
    const algorithm::newton::Terms& t = *s_.sums;
    Vector sent = Vector::Zero(last_.size());
    if (round_ == 1 && with_curvature()) sent[0] = sent[moments() - 1] = 5;  // a curvature that hides the other's
    if (round_ == 1) learn_curvature(sent);
    const Vector wanted = by_class(curvature_, f_ - target) - t.ridge * f_;  // ḡ of f⁺ = f − M⁻¹(ḡ + λf)
    sent.tail(f_.size()) = wanted * t.records / t.unit - last_.tail(f_.size());
    return sent;
  }

 private:
  // M times, or M⁻¹ times, what each class has.
  Vector by_class(const Matrix& m, const Vector& of) const { return (m * of.reshaped(2, of.size() / 2)).reshaped(); }
  // Böhning's bound holds where Σ_k = 0.
  Vector without_mean(const Vector& of) const {
    if (!several_classes(s_.loss)) return of;
    const Matrix classes = of.reshaped(2, of.size() / 2);
    return (classes.colwise() - classes.rowwise().mean()).reshaped();
  }
  bool with_curvature() const { return s_.sums->shape != algorithm::newton::Shape::none; }
  Index moments() const { return s_.sums->shape == algorithm::newton::Shape::diagonal ? 2 : 3; }

  // (Q) from both parties' sums.
  void learn_curvature(const Vector& theirs) {
    const algorithm::newton::Terms& t = *s_.sums;
    if (!with_curvature()) {
      curvature_ = (t.c1 + t.ridge) * Matrix::Identity(2, 2);
      return;
    }
    const Vector sum = (last_.head(moments()) + theirs.head(moments())) * t.unit / t.records;
    if (moments() == 2) {
      const Vector bounded = (t.c1 * t.entries * sum.array()).max(t.c1 * t.floor).min(t.c1) + t.ridge;
      curvature_ = bounded.asDiagonal();
      return;
    }
    Matrix s(2, 2);
    s << sum[0], sum[1] / std::numbers::sqrt2, sum[1] / std::numbers::sqrt2, sum[2];
    const Eigen::SelfAdjointEigenSolver<Matrix> eigen(s);
    const Vector raised = (t.c1 * eigen.eigenvalues().cwiseMax(t.floor)).array() + t.ridge;
    curvature_ = eigen.eigenvectors() * raised.asDiagonal() * eigen.eigenvectors().transpose();
  }

  // (N), and for dp-gd its momentum.
  void move(const Vector& theirs) {
    const algorithm::newton::Terms& t = *s_.sums;
    if (round_ == 1) learn_curvature(theirs);
    const Vector mean = (last_ + theirs).tail(f_.size()) * t.unit / t.records;
    const Vector step = -by_class(curvature_.inverse(), without_mean(mean + t.ridge * f_));
    velocity_ = t.momentum * velocity_ + step;
    f_ += t.momentum > 0 ? velocity_ : step;
    if (!t.average) points_.setZero(), counted_ = 0;
    if (t.average && 2L * round_ <= t.rounds) return;
    points_ += f_;
    ++counted_;
  }
  Vector model() const { return points_ / std::max(1, counted_); }

  void weigh(const Message& m) {
    const bool curved = round_ == 1 && with_curvature();
    const algorithm::PrivateRound& now = s_.private_rounds[static_cast<std::size_t>(round_) - 1];
    double gradient_scale = now.gradient_scale;
    const double weight = largest_weight(s_.loss), bound = weight * std::min(bound_of(s_.loss), s_.sums->clip);
    if (s_.diameter_at_point)
      gradient_scale *=
          std::min(1.0, (weight * steepest(f_.norm()).diameter + 2 * s_.tolerance) / (2 * bound + 2 * s_.tolerance));
    std::array<double, 2> log_density{};
    for (const int world : {0, 1}) {
      Vector noise = m.value * s_.sums->unit - bare_sums(scene_, world, f_, curved);
      if (curved) noise.head(moments()) /= now.curvature_scale;
      noise.tail(f_.size()) /= gradient_scale;
      log_density[static_cast<std::size_t>(world)] = -noise.squaredNorm() / 2;
      evidence_.log_density[static_cast<std::size_t>(world)] -= noise.squaredNorm() / 2;
      if (world == 1) continue;
      noises_.add(noise.tail(f_.size()), noise.tail(f_.size()).norm());
      if (curved)  // a number of the curvature and one of the gradient may have the same noise
        for (Index i = 0; i < noise.size(); ++i) numbers_.add(noise.segment(i, 1), std::abs(noise[i]));
    }
    evidence_.log_ratio += log_density[0] - log_density[1];
  }

  const Scene& scene_;
  const algorithm::Schedule& s_;
  Vector f_, velocity_, points_;
  Vector last_;       // party 0's last release
  Matrix curvature_;  // M
  int round_ = 0, counted_ = 0;
  Noises noises_, numbers_;
  Evidence evidence_;
};

Vector answer(const Scene& scene, const Transcript& heard) {
  return SumsAttacker(scene).answer(heard);
}

}  // namespace

Vector bare_sums(const Scene& scene, int world, const Vector& f, bool with_curvature) {
  const data::Rows& rows = scene.rows[static_cast<std::size_t>(world)];
  const algorithm::Schedule& s = scene.schedule;
  const bool diagonal = s.sums->shape == algorithm::newton::Shape::diagonal;
  const Index d = f.size();
  Vector sums = Vector::Zero(d + (with_curvature ? diagonal ? 2 : 3 : 0));
  for (std::size_t n = 0; n < rows.count(); ++n) {
    const Vector x = row_of(rows, n);
    sums.tail(d) += class_weight(s.loss, rows.label[n]) * gradient_of(s.loss, s.sums->clip, x, rows.label[n], f);
    if (with_curvature && diagonal) sums.head(2) += x.cwiseProduct(x);
    if (with_curvature && !diagonal)
      sums.head(3) += Vector{{x[0] * x[0], std::numbers::sqrt2 * x[0] * x[1], x[1] * x[1]}};
  }
  return sums;
}

Scene make_sums_scene(const SumsOptions& options) {
  algorithm::Options o;
  o.algorithm = options.algorithm;
  o.rounds = options.rounds;
  o.loss_weight = 1;
  o.regularization = 1e-3;
  o.noise = "gaussian";
  o.loss = options.loss;
  o.class_weight = options.class_weight;
  o.loss_width = 0.5;
  const problem::Loss loss = algorithm::loss_of(o, 3);
  const bool cuts = !several_classes(loss) && loss.kind != problem::LossKind::squared;
  if (cuts) o.clip = options.clip;
  if (options.diagonal) o.curvature = "diagonal";
  o.average = "yes";
  o.diameter = options.at_point ? "at-point" : "worst";
  const bool curved = options.algorithm == "newton";
  if (curved) o.curvature_share = options.curvature_share;
  const double share = curved ? options.curvature_share : 0, weight = largest_weight(loss),
               bound = weight * (cuts ? std::min(bound_of(loss), options.clip) : bound_of(loss));
  const long of_person = std::max(1L, options.rows_per_person);
  o.noise_scale = {static_cast<double>(of_person) * (2 * bound + 2e-6) *
                   std::sqrt(static_cast<double>(options.rounds) / (1 - share)) / options.claim};
  const auto b = static_cast<double>(options.records);
  const Vector target = target_of(loss, options.norm);
  Scene scene{.schedule = algorithm::make_plan(o, {.degree = {1, 1},
                                                   .records = {b, b},
                                                   .features = 2,
                                                   .classes = 3,
                                                   .rows_per_person = options.rows_per_person})
                              .nodes[0],
              .rows = {},
              .start = Vector::Zero(target.size()),
              .neighbour = {},
              .points = {target},
              .answer = answer};
  const double tilt = options.norm > 0 && options.pair == Pair::opposed ? steepest(options.norm).a : 0;
  for (const int world : {0, 1}) {
    const Vector& v = pair_of(options.pair)[static_cast<std::size_t>(world)];
    data::Rows& rows = scene.rows[static_cast<std::size_t>(world)];
    rows.features = 2;
    const std::array<std::int32_t, 2> columns{0, 1};
    const std::array<double, 2> values{v[0] * std::sqrt(1 - tilt * tilt) * (1 - 1e-15), tilt > 0 ? tilt : v[1]};
    for (long n = 0; n < of_person; ++n) rows.append(columns, values, 1);
    for (long n = of_person; n < options.records; ++n) {  // the same in both worlds
      const std::array<double, 2> other{0.9 * std::cos(static_cast<double>(n)), 0.9 * std::sin(static_cast<double>(n))};
      rows.append(columns, other, n % 3 == 0 ? -1 : 1);
    }
  }
  return scene;
}

Evidence weigh_sums(const Scene& scene, const Transcript& transcript) {
  return SumsAttacker(scene).weigh(transcript);
}

}  // namespace parley::audit
