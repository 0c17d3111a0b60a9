#include "parley/audit/one_round.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "parley/audit/statistics.h"
#include "parley/base/error.h"
#include "parley/problem/solve.h"

namespace parley::audit {
namespace {

constexpr double alpha = 0.001;  // check B: confidence 99.9 %

algorithm::Schedule schedule_at(const SceneOptions& options, double rate) {
  algorithm::Options o = options.algorithm;
  o.noise_rate = {rate};
  return algorithm::make_plan(o, {.degree = {1, 1},
                                  .records = {static_cast<double>(options.records), 1},
                                  .rows_per_person = options.rows_per_person})
      .nodes[0];
}

// The largest noise rate whose plan claims at most epsilon; the claim grows with the rate.
algorithm::Schedule calibrated(const SceneOptions& options) {
  const double epsilon = options.epsilon;
  double low = 1e-9, high = 1e9;
  while (high / low > 1 + 1e-12) {
    const double middle = std::sqrt(low * high);
    (schedule_at(options, middle).epsilon <= epsilon ? low : high) = middle;
  }
  algorithm::Schedule s = schedule_at(options, low);
  expects(s.noise == algorithm::Noise::none || (s.epsilon <= epsilon && s.epsilon > 0.999 * epsilon),
          "a plan that claims epsilon");
  return s;
}

// ∇O(f) and ∇²O(f) of the rows of one world, as plain as can be.
struct Slopes {
  Vector gradient;
  Matrix hessian;
};
Slopes slopes(const problem::Problem& p, const Vector& f) {
  Slopes at{.gradient = p.regularization * f, .hessian = p.regularization * Matrix::Identity(f.size(), f.size())};
  const data::Rows& rows = *p.rows;
  for (std::size_t n = 0; n < rows.count(); ++n) {
    double score = 0;
    for (std::size_t k = rows.start[n]; k < rows.start[n + 1]; ++k) score += rows.value[k] * f[rows.column[k]];
    const double slope = p.weight * p.loss.slope(score, rows.label[n]),
                 curvature = p.weight * p.loss.curvature(score, rows.label[n]);
    for (std::size_t k = rows.start[n]; k < rows.start[n + 1]; ++k) {
      at.gradient[rows.column[k]] += slope * rows.value[k];
      for (std::size_t l = rows.start[n]; l < rows.start[n + 1]; ++l)
        at.hessian(rows.column[k], rows.column[l]) += curvature * rows.value[k] * rows.value[l];
    }
  }
  return at;
}

double log_determinant(const Matrix& positive) {
  const Eigen::LLT<Matrix> factor(positive);
  double sum = 0;
  for (Index k = 0; k < positive.rows(); ++k) sum += 2 * std::log(factor.matrixLLT()(k, k));
  return sum;
}

// The attacker's view between two rounds: released values only.
struct View {
  int round = 0;
  Vector f;                       // f_0(round)
  Vector dual;                    // λ settled up to the round before
  Vector gradient;                // g = b + ∇O of the last private round
  std::array<Vector, 2> minimum;  // output noise: argmin of the last private round in D and D'
};

class Attacker {
 public:
  explicit Attacker(const Scene& scene) : scene_(scene), s_(scene.schedule) {
    view_ = {.f = scene.start, .dual = Vector::Zero(scene.start.size()), .gradient = Vector::Zero(scene.start.size())};
    next_ = view_;
  }

  Evidence weigh(const Transcript& transcript) {
    for (const Message& m : transcript) {
      if (m.round == next_.round + 1) view_ = next_;  // otherwise the same round again: seen from where it started
      expects(m.round == view_.round + 1, "rounds in order");
      see(m);
    }
    evidence_.quiet = noises_.quiet();
    evidence_.echo = noises_.echo();
    return evidence_;
  }

 private:
  void see(const Message& m) {
    next_ = view_;
    next_.round = m.round;
    next_.f = m.value;
    if (s_.touches_data(view_.round)) {
      const double theta = s_.private_round(view_.round).dual_step;
      next_.dual = view_.dual + theta / 2 * (view_.f - m.received);
      if (m.dual) infer_minimum((*m.dual - view_.dual) * (2 / theta) + m.received, view_.minimum[0]);
    }
    const algorithm::PrivateRound& now = s_.private_round(m.round);
    if (s_.touches_data(m.round))
      see_private(m, now);
    else
      see_recycled(m, now);
  }

  void see_private(const Message& m, const algorithm::PrivateRound& now) {
    const Vector& lambda = next_.dual;
    const Vector pull = now.penalty * (2 * m.value - view_.f - m.received);
    next_.gradient = -2 * lambda - pull;
    const bool output = s_.place == algorithm::Place::output;
    const bool gaussian = s_.noise == algorithm::Noise::gaussian;
    const double rate = gaussian ? 1 / (output ? now.output_scale : now.objective_scale)
                                 : (output ? now.output_rate : now.objective_rate);
    std::array<double, 2> log_density{};
    for (const int world : {0, 1}) {
      const problem::Problem p = scene_.problem(world);
      Vector noise;
      if (output) {
        const problem::Proximal terms{.linear = 2 * lambda - now.penalty * (view_.f + m.received),
                                      .quadratic = 2 * now.penalty};
        next_.minimum[static_cast<std::size_t>(world)] =
            problem::argmin(p, terms, view_.f, {.tolerance = 1e-3 * s_.tolerance}).f;
        noise = m.value - next_.minimum[static_cast<std::size_t>(world)];
      } else {
        Slopes at = slopes(p, m.value);
        noise = -(at.gradient + 2 * lambda + pull);
        at.hessian.diagonal().array() += 2 * now.penalty;
        log_density[static_cast<std::size_t>(world)] = log_determinant(at.hessian);
      }
      const double size = rate * noise.norm();
      log_density[static_cast<std::size_t>(world)] -= gaussian ? size * size / 2 : size;
      evidence_.log_density[static_cast<std::size_t>(world)] += log_density[static_cast<std::size_t>(world)];
      if (world == 0) noises_.add(noise, size);
    }
    evidence_.log_ratio += log_density[0] - log_density[1];
  }

  void see_recycled(const Message& m, const algorithm::PrivateRound& now) {
    const double divisor = 2 * now.penalty + now.damping;
    const Vector known = 2 * next_.dual + now.penalty * (view_.f - m.received);
    const Vector expected =
        (view_.f - (view_.gradient + known) / divisor).cwiseMax(-s_.release_bound).cwiseMin(s_.release_bound);
    evidence_.free_residual =
        std::max(evidence_.free_residual, (m.value - expected).cwiseAbs().maxCoeff() - now.grid / 2);
    if (s_.place != algorithm::Place::output) return;
    // g as this step used it; in terms of the minimum it was taken at, g = −2λ − η(2f̂ − …), while ours was taken at the
    // released f.
    const Vector used = (view_.f - m.value) * divisor - known;
    infer_minimum(view_.f - (used - view_.gradient) / (2 * now.penalty), view_.minimum[0]);
  }

  void infer_minimum(const Vector& inferred, const Vector& in_d) {
    if (in_d.size() > 0)
      evidence_.bare = std::max(evidence_.bare == 0 ? -1e300 : evidence_.bare, -(inferred - in_d).norm());
  }

  const Scene& scene_;
  const algorithm::Schedule& s_;
  View view_, next_;
  Noises noises_;  // b_D or n_D of each private message
  Evidence evidence_;
};

double pure_claim(const Transcript& transcript) {
  double sum = 0;
  for (const Message& m : transcript) sum += m.epsilon;
  return sum;
}

}  // namespace

algorithm::Options SceneOptions::quiet_options() {
  algorithm::Options o;
  o.algorithm = "mr-admm";
  o.rounds = 1;
  o.loss_weight = 1;
  o.regularization = 0.02;
  o.penalty = {2};
  return o;
}

Scene make_scene(const SceneOptions& options) {
  Scene scene{.schedule = calibrated(options),
              .rows = opposed_rows(options.records, 0.3, options.row_norm, std::max(1L, options.rows_per_person)),
              .start = Vector{{0, -20}},
              .neighbour = {Vector{{0, -20}}}};
  return scene;
}

Evidence weigh_minima(const Scene& scene, const Transcript& transcript) {
  return Attacker(scene).weigh(transcript);
}

Verdict examine(const Scene& scene, const Mechanism& mechanism, long runs, std::uint64_t seed) {
  const Observed o = observe(scene, mechanism, pure_claim, runs, seed, 0);
  Verdict verdict;
  verdict.claim = o.claim;
  verdict.free_residual = o.free_residual;
  for (const auto& world : o.seen)
    for (const Evidence& e : world) verdict.largest_ratio = std::max(verdict.largest_ratio, std::abs(e.log_ratio));
  double best = -std::numeric_limits<double>::infinity();
  for (const Statistic& statistic : statistics())
    for (const int world : {0, 1}) {  // for D, and read the other way round for D'
      const double sign = world == 0 ? 1 : -1;
      const Cut cut =
          choose_cut(o.values(statistic, world, true, sign), o.values(statistic, 1 - world, true, sign), alpha);
      if (cut.epsilon <= best) continue;
      best = cut.epsilon;
      verdict.statistic = statistic.name;
      verdict.lower_bound = std::max(0.0, epsilon_lower_bound(cut.threshold, o.values(statistic, world, false, sign),
                                                              o.values(statistic, 1 - world, false, sign), alpha));
    }
  return verdict;
}

}  // namespace parley::audit
