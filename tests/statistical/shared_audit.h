// The audit of noise that cancels between parties (docs/proofs/shared-noise.md). The attacker has what the proof gives
// away: the rows of everybody but party 0, and the keys of the parties that collude. From each release it takes what it
// knows, and of the rest forms the statistic that tells most,
//   b_0 + p²/(s² + p²) Σ_{j honest} b_j,   whose variance is v.
// Released are newton's sums of gradients, or what dp-admm and linear-admm step to from a point f:
//   f⁺ = f − (∇O(f) + b)/Q,   so that  b + ∇L = Q(f − f⁺) − R'(f)
#pragma once
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checks.h"
#include "parley/algorithm/newton/newton_sums.h"
#include "parley/algorithm/private_update.h"
#include "parley/audit/scene.h"
#include "parley/privacy/gaussian.h"
#include "parley/privacy/pair_noise.h"

namespace parley::audit {

using algorithm::PrivateRound;
using algorithm::Schedule;
using privacy::PairIndex;
using privacy::PairKey;
using privacy::PairKeys;
using privacy::SharedNoise;

// Where the record's gradient is 2 apart in the two worlds, and where it is 0 in both.
inline const Vector shows{{0.0, -800.0}}, hides{{0.0, 800.0}};

// The faults live here; the product has no switch for any of them.
struct Faults {
  int more_colluders = 0;        // than the plan allows for
  bool one_stream = false;       // for all rounds
  bool no_point = false;         // in the index of a stream
  bool without_partner = false;  // party 0 leaves out what it shares with the last party
  int adding = 0;                // so many of the last parties add what they should subtract
  double partners_own = 1;       // the last party's own noise is so many times what is planned
};

struct SharedAudit {
  std::string algorithm = "newton";
  Choice<problem::LossKind> loss = problem::LossKind::logistic;
  bool at_point = false;
  int parties = 5, colluders = 1;
  double mu = 1;                                // claim of the run
  double tilt = 0.05;                           // of the two rows
  std::vector<Vector> points{Vector::Zero(2)};  // one gradient at each, in a round of its own unless…
  bool same_round = false;                      // … a party that was put back releases twice in round 1
  std::vector<double> weights{1};               // of the releases in the statistic
  bool alone = false;                           // it has party 0's only
  Faults faults{};

  bool sums() const { return algorithm == "newton"; }

  algorithm::Plan plan() const {
    const auto& a = algorithm::algorithm_named(algorithm);
    algorithm::Options o;
    o.algorithm = algorithm;
    o.loss = loss;
    if (sums()) o.curvature_share = 1e-9, o.clip = 1;
    o.diameter = at_point ? algorithm::Diameter::at_point : algorithm::Diameter::worst;
    o.rounds = static_cast<long>(points.size());
    o.epsilon = {privacy::gdp_epsilon(mu, 1e-5)};
    o.delta = 1e-5;
    o.colluders = static_cast<std::uint64_t>(colluders);
    const auto n = static_cast<std::size_t>(parties);
    return algorithm::make_plan(
        o,
        {.degree = std::vector<int>(n, a.star ? 1 : parties - 1), .records = std::vector<double>(n, 1), .features = 2});
  }

  problem::Problem problem(const data::Rows& rows, const Schedule& s) const {
    if (!sums()) return problem_of(rows, s);
    return {.rows = &rows, .loss = s.summed_loss(), .weight = 1};
  }

  // That a faulty party would use: newton's gradients are release 1, and have a common point.
  PairIndex index_of(int round, const Vector& f) const {
    return {.round = faults.one_stream ? 1 : round,
            .release = sums() ? 1 : 0,
            .point = !sums() || faults.no_point ? nullptr : &f};
  }

  // What multiplies the whole noise at f.
  double share_at(const Schedule& s, const Vector& f) const {
    return algorithm::noise_share(s.loss, sums() ? 1 : s.weight, s.tolerance, s.diameter_at_point, f);
  }

  // Gradient and noise of a party as its release shows them; with a fault in its streams, as a faulty one would.
  Vector released(const Schedule& s, const data::Rows& rows, const Vector& f, int round, privacy::NoiseSource& noise,
                  const PairKeys& keys) const {
    const problem::Problem p = problem(rows, s);
    const PrivateRound& now = s.private_rounds[static_cast<std::size_t>(round) - 1];
    const double scale = now.gradient_scale * share_at(s, f), unit = sums() ? s.sums->unit : now.divisor;
    Random random = noise.stream(s.node, round);
    if (faults.one_stream || faults.no_point || faults.adding > 0) {
      Vector sum = problem::loss_gradient(p, f);
      privacy::add_noise(sum, scale, {.own = s.sharing.noise.own, .pair = 0}, random, 0);
      sum += scale * s.sharing.noise.pair * shared(keys, s.node, index_of(round, f), f.size());
      return algorithm::snap(sum / unit, s.release_bound, now.grid) * unit;
    }
    Vector value;
    if (sums())
      value = algorithm::newton::noisy_sums(p, f, {.gradient = f.size()}, s, now, random) * unit;
    else
      value = (f - algorithm::noisy_linear_step(p, f, Vector::Zero(f.size()), s, now, random)) * now.divisor -
              problem::regularizer_gradient(p, f);
    if (faults.without_partner && s.node == 0)
      add_pair_noise(value, -scale * s.sharing.noise.pair, keys.key(0, keys.parties() - 1), index_of(round, f));
    return value;
  }

  // What the attacker computes in one run.
  double statistic(const algorithm::Plan& plan, int world, std::uint64_t seed) const {
    const std::array<data::Rows, 2> rows = opposed_rows(1, tilt);
    privacy::NoiseSource noise(seed);
    const auto keys = std::make_shared<const privacy::SimulatedPairs>(parties, noise.secret_for_pairs());
    noise.share(keys);
    const SharedNoise& share = plan.sharing().noise;
    const double regress = share.pair * share.pair / (share.own * share.own + share.pair * share.pair);
    const int colluding = colluders + faults.more_colluders;  // 1, 2, …; party 0 and the last ones do not
    double all = 0;
    for (std::size_t t = 0; t < points.size(); ++t) {
      const int round = same_round ? 1 : static_cast<int>(t) + 1;
      for (int j = 0; j < (alone ? 1 : parties); ++j) {
        if (j > 0 && j <= colluding) continue;
        Schedule s = plan.nodes[static_cast<std::size_t>(j)];
        if (j == parties - 1) s.sharing.noise.own *= faults.partners_own;
        const data::Rows& held = rows[j == 0 ? static_cast<std::size_t>(world) : 0];
        if (same_round && t > 0) {  // its own noise is fresh
          noise = privacy::NoiseSource(seed + 1'000'000'007);
          noise.share(keys);
        }
        Vector b = released(s, held, points[t], round, noise, *keys);
        if (j > 0) b -= problem::loss_gradient(problem(held, s), points[t]);
        b -= known_to_colluders(s, points[t], round, colluding, *keys);
        all += weights[t] * (j == 0 ? 1 : regress) * b[0];
      }
    }
    return all;
  }

 private:
  // Σ_{j≠i} of what is shared, with the signs that a faulty party would use.
  Vector shared(const PairKeys& keys, int node, const PairIndex& index, Index dimension) const {
    if (node < keys.parties() - faults.adding) return keys.sum(node, index, dimension);
    Vector all = Vector::Zero(dimension);
    for (int j = 0; j < keys.parties(); ++j)
      if (j != node) privacy::add_pair_noise(all, 1, keys.key(node, j), index);
    return all;
  }

  // What a party shares with the parties 1, …, colluding.
  Vector known_to_colluders(const Schedule& s, const Vector& f, int round, int colluding, const PairKeys& keys) const {
    Vector z = Vector::Zero(f.size());
    for (int known = 1; known <= colluding; ++known)
      add_pair_noise(z, s.node < known ? 1 : -1, keys.key(s.node, known), index_of(round, f));
    const double scale = s.private_rounds[static_cast<std::size_t>(round) - 1].gradient_scale * share_at(s, f);
    return scale * s.sharing.noise.pair * z;
  }
};

struct Found {
  double bound = 0, estimate = 0;  // of μ
};

inline Found examine(const SharedAudit& audit) {
  const std::size_t runs = is_full() ? 40000 : is_short() ? 1500 : 3000;
  const algorithm::Plan plan = audit.plan();
  std::array<std::vector<double>, 4> samples;
  for (std::size_t half = 0; half < 2; ++half)
    for (std::size_t world = 0; world < 2; ++world)
      samples[2 * half + world] = draws(runs, [&, at = std::uint64_t{half * 2 + world}]() mutable {
        return audit.statistic(plan, static_cast<int>(world), at += 4);
      });
  const double turn = moments(samples[0]).mean < moments(samples[1]).mean ? -1 : 1;
  for (auto& sample : samples)
    for (double& x : sample) x *= turn;
  const MuCut cut = choose_mu_cut(samples[0], samples[1], 1e-3);
  const Moments a = moments(samples[2]), b = moments(samples[3]);
  return {.bound = mu_lower_bound(cut.threshold, samples[2], samples[3], 1e-3),
          .estimate = (a.mean - b.mean) / std::sqrt((a.variance + b.variance) / 2)};
}

// reach: of the claim, by the estimate, where this is the worst case.
inline void expect_to_hold(const std::string& name, const SharedAudit& audit, double claim,
                           std::optional<double> reach = std::nullopt) {
  const Found found = examine(audit);
  std::printf("  %-46s claim %.4f  bound %.4f  estimate %.4f\n", name.c_str(), claim, found.bound, found.estimate);
  EXPECT_LE(found.bound, claim) << name;
  if (is_short() || !reach) return;
  EXPECT_GE(found.estimate, *reach * claim) << name << ": not the worst case";
}

inline void expect_refuted(const std::string& name, const SharedAudit& audit, double claim) {
  const Found found = examine(audit);
  std::printf("  twin: %-40s claim %.4f  bound %.4f  estimate %.4f\n", name.c_str(), claim, found.bound,
              found.estimate);
  EXPECT_GT(found.bound, claim) << name << " passed";
}

}  // namespace parley::audit
