// Noise that cancels in the iterates of dp-admm and linear-admm (docs/proofs/shared-noise.md): its audit and broken twins
// (shared_audit.h). The stream of a round has no point in its index, since every party is at a point of its own.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "parley/audit/linear.h"
#include "shared_audit.h"

namespace parley::audit {
namespace {

const std::vector<std::string> both{"dp-admm", "linear-admm"};

TEST(SharedIteratesAudit, KeepsItsClaimAgainstSoManyAsThePlanAllowsFor) {
  for (const auto& [name, mu] : {std::pair{std::string("dp-admm"), 0.5}, {"dp-admm", 2}, {"linear-admm", 1}}) {
    expect_to_hold(name + ", 5 parties, 1 colluder", {.algorithm = name, .mu = mu, .points = {shows}}, mu, 0.9);
    expect_to_hold(name + ", 5 parties, 3 colluders", {.algorithm = name, .colluders = 3, .mu = mu, .points = {shows}},
                   mu, 0.9);
    expect_to_hold(name + ", 3 parties, 2 rounds",
                   {.algorithm = name, .parties = 3, .mu = mu, .points = {shows, shows * 0.9}, .weights = {1, 1}}, mu,
                   0.9);
  }
  expect_to_hold("dp-admm, hinge at 0",
                 {.algorithm = "dp-admm", .loss = "hinge", .tilt = 0, .points = {Vector::Zero(2)}}, 1, 0.9);
}

// Where the diameter at a party's own point makes its noise smaller, all of it becomes smaller.
TEST(SharedIteratesAudit, NoiseByTheDiameterAtAPointKeepsItsClaim) {
  const double norm = 3;
  expect_to_hold(
      "linear-admm, at-point, norm 3",
      {.algorithm = "linear-admm", .at_point = true, .tilt = steepest(norm).a, .points = {Vector{{0, -norm}}}}, 1, 0.9);
}

// Against everybody else the claim is that of its own noise: μ/s.
TEST(SharedIteratesAudit, AgainstAllOthersTheLargerClaimHolds) {
  for (const std::string& name : both) {
    const SharedAudit all{.algorithm = name, .points = {shows}, .faults = {.more_colluders = 3}};
    const algorithm::Plan plan = all.plan();
    const privacy::Charge& charge = plan.nodes[0].private_rounds[0].charge;
    EXPECT_NEAR(*charge.mu_colluders, 1, 1e-4);
    EXPECT_NEAR(charge.mu, *charge.mu_colluders / plan.sharing().noise.own, 1e-4);
    expect_to_hold(name + ", all others together", all, charge.mu, 0.9);
    expect_refuted(name + ", all others, charged as one", all, 1);
  }
}

TEST(BrokenSharedIteratesTwin, ColludersCountedAsHonestAreRefuted) {
  for (const std::string& name : both)
    expect_refuted(name + ", 3 collude, planned for 1",
                   {.algorithm = name, .points = {shows}, .faults = {.more_colluders = 2}}, 1);
}

// Two rounds, one where the record shows and one where it does not: their difference is free of what is shared.
TEST(BrokenSharedIteratesTwin, AStreamForTwoRoundsIsRefuted) {
  for (const std::string& name : both) {
    const SharedAudit twice{
        .algorithm = name, .parties = 20, .points = {shows, hides}, .weights = {1, -1}, .alone = true};
    SharedAudit twin = twice;
    twin.faults.one_stream = true;
    expect_to_hold(name + ", two rounds, their difference", twice, 1);
    expect_refuted(name + ", one stream for two rounds", twin, 1);
  }
}

// No index keeps a party that was put back from the same stream at another point: that a round is released once must.
TEST(BrokenSharedIteratesTwin, ARoundThatIsReleasedTwiceIsRefuted) {
  for (const std::string& name : both)
    expect_refuted(name + ", round 1 released twice",
                   {.algorithm = name,
                    .parties = 20,
                    .points = {shows, hides},
                    .same_round = true,
                    .weights = {1, -1},
                    .alone = true},
                   1);
}

TEST(BrokenSharedIteratesTwin, AReleaseWithoutWhatItSharesWithAnHonestPartyIsRefuted) {
  for (const std::string& name : both)
    expect_refuted(
        name + ", a key is not there",
        {.algorithm = name, .parties = 3, .points = {shows}, .alone = true, .faults = {.without_partner = true}}, 1);
}

TEST(BrokenSharedIteratesTwin, APartnerWithLessNoiseOfItsOwnIsRefuted) {
  for (const std::string& name : both)
    expect_refuted(name + ", another p/s",
                   {.algorithm = name, .parties = 3, .mu = 2, .points = {shows}, .faults = {.partners_own = 0.1}}, 2);
}

}  // namespace
}  // namespace parley::audit
