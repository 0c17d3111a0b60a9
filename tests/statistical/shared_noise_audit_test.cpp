// Noise that cancels in newton's sums: its audit, its law, and broken twins (shared_audit.h). dp-admm and linear-admm:
// shared_iterates_audit_test.cpp.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "checks.h"
#include "parley/privacy/pair_noise.h"
#include "shared_audit.h"

namespace parley::audit {
namespace {

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
  const SharedAudit all{.points = {shows}, .faults = {.more_colluders = 3}};
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
  const SharedAudit twice{.parties = 20, .points = {shows, hides}, .weights = {1, -1}, .alone = true};
  SharedAudit twin = twice;
  twin.faults.one_stream = twin.faults.no_point = true;
  expect_to_hold("two rounds, their difference", twice, 1);
  expect_refuted("one stream for two rounds", twin, 1);
}

// A party that was put back releases round 1 once more, at another point; both are charged.
TEST(BrokenSharedNoiseTwin, AStreamThatServesAgainAfterARollbackIsRefuted) {
  const SharedAudit rolled{
      .parties = 20, .points = {shows, hides}, .same_round = true, .weights = {1, -1}, .alone = true};
  SharedAudit twin = rolled;
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
  const SharedAudit audit{.parties = 6, .colluders = 2, .faults = faults};
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
    for (const Schedule& s : plan.nodes) all += audit.released(s, nothing, Vector::Zero(2), 1, noise, *keys);
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
