// The audit of noise that cancels between parties (docs/proofs/shared-noise.md), its law, and broken twins. The attacker
// has what the proof gives away: the rows of everybody but party 0, and the keys of the parties that collude. From each
// release it takes what it knows, and of the rest forms the statistic that tells most,
//   b_0 + p²/(s² + p²) Σ_{j honest} b_j,   whose variance is v.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
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
namespace {

using algorithm::Schedule;
using privacy::PairIndex;
using privacy::PairKey;
using privacy::PairKeys;
using privacy::SharedNoise;

constexpr double delta = 1e-5;

// The faults live here; the product has no switch for any of them.
struct Faults {
  int more_colluders = 0;        // than the plan allows for
  bool one_stream = false;       // for all rounds
  bool no_point = false;         // in the index of a stream
  bool without_partner = false;  // party 0 leaves out what it shares with the last party
  int adding = 0;                // so many of the last parties add what they should subtract
  double partners_own = 1;       // the last party's own noise is so many times what is planned
};

// The index that a faulty party would use.
PairIndex index_of(int round, const Vector& f, const Faults& faults) {
  return {.round = faults.one_stream ? 1 : round, .release = 1, .point = faults.no_point ? nullptr : &f};
}

// Σ_{j≠i} of what is shared, with the signs that a faulty party would use.
Vector shared(const PairKeys& keys, int node, const PairIndex& index, Index dimension, const Faults& faults) {
  if (node < keys.parties() - faults.adding) return keys.sum(node, index, dimension);
  Vector all = Vector::Zero(dimension);
  for (int j = 0; j < keys.parties(); ++j)
    if (j != node) privacy::add_pair_noise(all, 1, keys.key(node, j), index);
  return all;
}

// One gradient of a party as the product releases it; with a fault in its streams, as a faulty one would.
Vector released(const Schedule& s, const data::Rows& rows, const Vector& f, int round, privacy::NoiseSource& noise,
                const std::shared_ptr<const PairKeys>& keys, const Faults& faults) {
  const problem::Problem p{.rows = &rows, .loss = s.summed_loss(), .weight = 1};
  const algorithm::PrivateRound& now = s.private_rounds[static_cast<std::size_t>(round) - 1];
  Random random = noise.stream(s.node, round);
  if (!faults.one_stream && !faults.no_point && faults.adding == 0) {
    Vector value = algorithm::newton::noisy_sums(p, f, {.gradient = f.size()}, s, now, random) * s.sums->unit;
    if (faults.without_partner && s.node == 0)
      add_pair_noise(value, -now.gradient_scale * s.sharing.noise.pair, keys->key(0, keys->parties() - 1),
                     index_of(round, f, faults));
    return value;
  }
  Vector sum = problem::loss_gradient(p, f);
  privacy::add_noise(sum, now.gradient_scale, {.own = s.sharing.noise.own, .pair = 0}, random, 1);
  sum +=
      now.gradient_scale * s.sharing.noise.pair * shared(*keys, s.node, index_of(round, f, faults), f.size(), faults);
  return algorithm::snap(sum / s.sums->unit, s.release_bound, now.grid) * s.sums->unit;
}

struct Audit {
  int parties = 5, colluders = 1;
  double mu = 1;                                // claim of the run
  std::vector<Vector> points{Vector::Zero(2)};  // one gradient at each, in a round of its own unless…
  bool same_round = false;                      // … a party that was put back releases twice in round 1
  std::vector<double> weights{1};               // of the releases in the statistic
  bool alone = false;                           // it has party 0's only
  Faults faults{};

  algorithm::Plan plan() const {
    algorithm::Options o;
    o.algorithm = "newton";
    o.curvature_share = 1e-9;
    o.clip = 1;
    o.diameter = algorithm::Diameter::worst;
    o.rounds = static_cast<long>(points.size());
    o.epsilon = {privacy::gdp_epsilon(mu, delta)};
    o.delta = delta;
    o.colluders = static_cast<std::uint64_t>(colluders);
    return algorithm::make_plan(o, {.degree = std::vector<int>(static_cast<std::size_t>(parties), parties - 1),
                                    .records = std::vector<double>(static_cast<std::size_t>(parties), 1),
                                    .features = 2});
  }

  // What the attacker computes in one run.
  double statistic(const algorithm::Plan& plan, int world, std::uint64_t seed) const {
    const std::array<data::Rows, 2> rows = opposed_rows(1, 0.05);
    privacy::NoiseSource noise(seed);
    const auto keys = std::make_shared<const privacy::SimulatedPairs>(parties, noise.secret_for_pairs());
    noise.share(keys);
    double all = 0;
    for (std::size_t t = 0; t < points.size(); ++t) {
      const int round = same_round ? 1 : static_cast<int>(t) + 1;
      const SharedNoise& share = plan.sharing().noise;
      const double regress = share.pair * share.pair / (share.own * share.own + share.pair * share.pair);
      const int colluding = colluders + faults.more_colluders;  // 1, 2, …; party 0 and the last ones do not
      for (int j = 0; j < (alone ? 1 : parties); ++j) {
        if (j > 0 && j <= colluding) continue;
        Schedule s = plan.nodes[static_cast<std::size_t>(j)];
        if (j == parties - 1) s.sharing.noise.own *= faults.partners_own;
        const data::Rows& held = rows[j == 0 ? static_cast<std::size_t>(world) : 0];
        if (same_round && t > 0) noise = again(noise, seed + 1'000'000'007, keys);  // its own noise is fresh
        Vector b = released(s, held, points[t], round, noise, keys, faults);
        if (j > 0) b -= problem::loss_gradient({.rows = &held, .loss = s.summed_loss(), .weight = 1}, points[t]);
        const double scale = s.private_rounds[static_cast<std::size_t>(round) - 1].gradient_scale;
        for (int known = 1; known <= colluding; ++known) {  // what j shares with those who collude
          Vector z = Vector::Zero(2);
          add_pair_noise(z, j < known ? 1 : -1, keys->key(j, known), index_of(round, points[t], faults));
          b -= scale * s.sharing.noise.pair * z;
        }
        all += weights[t] * (j == 0 ? 1 : regress) * b[0];
      }
    }
    return all;
  }

  static privacy::NoiseSource again(const privacy::NoiseSource&, std::uint64_t seed,
                                    const std::shared_ptr<const PairKeys>& keys) {
    privacy::NoiseSource fresh(seed);
    fresh.share(keys);
    return fresh;
  }
};

struct Found {
  double bound = 0, estimate = 0;
};

Found examine(const Audit& audit) {
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

void expect_to_hold(const std::string& name, const Audit& audit, double claim,
                    std::optional<double> reach = std::nullopt) {
  const Found found = examine(audit);
  std::printf("  %-46s claim %.4f  bound %.4f  estimate %.4f\n", name.c_str(), claim, found.bound, found.estimate);
  EXPECT_LE(found.bound, claim) << name;
  if (is_short() || !reach) return;
  EXPECT_GE(found.estimate, *reach * claim) << name << ": not the worst case";
}

void expect_refuted(const std::string& name, const Audit& audit, double claim) {
  const Found found = examine(audit);
  std::printf("  twin: %-40s claim %.4f  bound %.4f  estimate %.4f\n", name.c_str(), claim, found.bound,
              found.estimate);
  EXPECT_GT(found.bound, claim) << name << " passed";
}

// Where the record's gradient is 2 apart in the two worlds, and where it is 0 in both.
const Vector shows{{0.0, -800.0}}, hides{{0.0, 800.0}};

TEST(SharedNoiseAudit, KeepsItsClaimAgainstSoManyAsThePlanAllowsFor) {
  for (const double mu : {0.5, 2.0}) {
    expect_to_hold("5 parties, 1 colluder", {.mu = mu, .points = {shows}}, mu, 0.9);
    expect_to_hold("5 parties, 3 colluders", {.colluders = 3, .mu = mu, .points = {shows}}, mu, 0.9);
    expect_to_hold("3 parties, 1 colluder, 2 rounds",
                   {.parties = 3, .mu = mu, .points = {shows, shows * 1.1}, .weights = {1, 1}}, mu, 0.9);
  }
}

// Against everybody else the claim is that of its own noise: μ/s.
TEST(SharedNoiseAudit, AgainstAllOthersTheLargerClaimHolds) {
  const Audit all{.points = {shows}, .faults = {.more_colluders = 3}};
  const algorithm::Plan plan = all.plan();
  const double claim = *plan.nodes[0].private_rounds[0].charge.mu_colluders;
  EXPECT_NEAR(claim, 1, 1e-6);
  EXPECT_NEAR(plan.nodes[0].private_rounds[0].charge.mu, claim / plan.sharing().noise.own, 1e-6);
  expect_to_hold("all others together", all, plan.nodes[0].private_rounds[0].charge.mu, 0.9);
  expect_refuted("all others together, charged as one", all, claim);
}

TEST(BrokenSharedNoiseTwin, ColludersCountedAsHonestAreRefuted) {
  expect_refuted("3 collude, planned for 1", {.points = {shows}, .faults = {.more_colluders = 2}}, 1);
}

// Two rounds, one where the record shows and one where it does not: their difference is free of what is shared.
TEST(BrokenSharedNoiseTwin, AStreamForTwoRoundsIsRefuted) {
  const Audit twice{.parties = 20, .points = {shows, hides}, .weights = {1, -1}, .alone = true};
  Audit twin = twice;
  twin.faults.one_stream = twin.faults.no_point = true;
  expect_to_hold("two rounds, their difference", twice, 1);
  expect_refuted("one stream for two rounds", twin, 1);
}

// A party that was put back releases round 1 once more, at another point; both are charged.
TEST(BrokenSharedNoiseTwin, AStreamThatServesAgainAfterARollbackIsRefuted) {
  const Audit rolled{.parties = 20, .points = {shows, hides}, .same_round = true, .weights = {1, -1}, .alone = true};
  Audit twin = rolled;
  twin.faults.no_point = true;
  expect_to_hold("a rollback, another point, another stream", rolled, 1);
  expect_refuted("a rollback, the same stream", twin, 1);
}

TEST(BrokenSharedNoiseTwin, AReleaseWithoutWhatItSharesWithAnHonestPartyIsRefuted) {
  expect_refuted("a key is not there",
                 {.parties = 3, .points = {shows}, .alone = true, .faults = {.without_partner = true}}, 1);
}

TEST(BrokenSharedNoiseTwin, APartnerWithLessNoiseOfItsOwnIsRefuted) {
  expect_refuted("another p/s", {.parties = 3, .points = {shows}, .faults = {.partners_own = 0.1}}, 1);
}

// ---- the law ----

TEST(SharedNoise, StreamsAreNormalAndAOnePercentErrorWouldBeSeen) {
  std::vector<double> sample;
  privacy::PairKey key{};
  for (int round = 1; sample.size() < (is_short() ? 20000U : 600000U); ++round) {
    Vector z = Vector::Zero(61);
    privacy::add_pair_noise(z, 1, key, {.round = round});
    sample.insert(sample.end(), z.begin(), z.end());
  }
  EXPECT_TRUE(all_accepted(check_normal(sample)));
  EXPECT_TRUE(all_accepted(check_independent(sample, 61)));
  for (double& x : sample) x *= 1 + small_error();
  EXPECT_TRUE(is_rejected(check_normal(sample)));
}

// The sum of all parties' releases, against what their own noise alone would be.
std::vector<double> sums_of_all(const Faults& faults, std::size_t numbers) {
  const Audit audit{.parties = 6, .colluders = 2};
  const algorithm::Plan plan = audit.plan();
  data::Rows nothing;
  nothing.features = 2;
  nothing.append({}, {}, 1);
  const double own = plan.nodes[0].private_rounds[0].gradient_scale * plan.sharing().noise.own;
  std::vector<double> sums;
  for (std::uint64_t run = 0; sums.size() < numbers; ++run) {
    privacy::NoiseSource noise(run);
    const auto keys = std::make_shared<const privacy::SimulatedPairs>(6, noise.secret_for_pairs());
    noise.share(keys);
    Vector all = Vector::Zero(2);
    for (const Schedule& s : plan.nodes) all += released(s, nothing, Vector::Zero(2), 1, noise, keys, faults);
    for (const double x : all) sums.push_back(x / (own * std::sqrt(6.0)));
  }
  return sums;
}

TEST(SharedNoise, TheSumOfAllPartiesCarriesTheirOwnNoiseAlone) {
  std::vector<double> sums = sums_of_all({}, is_short() ? 4000U : 40000U);
  EXPECT_TRUE(all_accepted(check_normal(sums)));
  for (double& x : sums) x *= 1.1;
  EXPECT_TRUE(is_rejected(check_normal(sums)));
}

// No fault of privacy, since more noise is left and not less; the model is what suffers.
TEST(BrokenSharedNoiseTwin, AWrongSignWithWhichNoiseAddsUpIsRefuted) {
  const std::size_t numbers = 1000;
  EXPECT_TRUE(all_accepted(check_normal(sums_of_all({}, numbers))));
  for (const int adding : {1, 6}) {
    const std::vector<double> sums = sums_of_all({.adding = adding}, numbers);
    std::printf("  twin: %d of 6 parties add what they should subtract: %.1f times the noise of the sum\n", adding,
                std::sqrt(moments(sums).variance));
    EXPECT_TRUE(is_rejected(check_normal(sums))) << adding;
  }
}

}  // namespace
}  // namespace parley::audit
