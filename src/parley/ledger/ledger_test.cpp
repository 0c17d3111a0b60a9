// Charging in memory: the rules that every ledger has.
#include "parley/ledger/ledger_test.h"

#include <cmath>
#include <type_traits>

#include "parley/privacy/gaussian.h"

namespace parley::ledger {
namespace {

TEST(Ledger, ChargesBeforeItHandsOutWhatMayLeave) {
  Ledger ledger(2, true);
  const auto paid = ledger.pay(release(1, 0, 0.25));
  ASSERT_TRUE(paid);
  EXPECT_EQ(ledger.spent(1), 0.25);
  EXPECT_EQ(ledger.spent(0), 0);
  EXPECT_EQ(*paid->value(), Vector::Ones(3));
}

TEST(Ledger, RefusesWhatWouldExceedTheCapAndChargesNothing) {
  Ledger ledger(1, true, 0.5);
  EXPECT_TRUE(ledger.pay(release(0, 0, 0.3)));
  EXPECT_FALSE(ledger.pay(release(0, 1, 0.3)));
  EXPECT_EQ(ledger.spent(0), 0.3);
  EXPECT_TRUE(ledger.pay(release(0, 1, 0.2)));
}

TEST(Ledger, DataWithoutNoiseIsPaidOnlyWhereNothingIsClaimed) {
  Ledger claims(1, true), admits(1, false);
  EXPECT_THROW(claims.pay(release(0, 0, INFINITY)), std::logic_error);
  EXPECT_TRUE(admits.pay(release(0, 0, INFINITY)));
  EXPECT_TRUE(admits.pay(release(0, 1, 0.5)));
  EXPECT_EQ(admits.spent(0), INFINITY);
}

TEST(Ledger, ASecondReleaseOfARoundIsABug) {
  Ledger ledger(1, true);
  EXPECT_TRUE(ledger.pay(release(0, 0, 0.1)));
  EXPECT_THROW(ledger.pay(release(0, 0, 0.1)), std::logic_error);
  EXPECT_THROW(ledger.pay(release(0, 2, 0.1)), std::logic_error);
  privacy::Release broken = release(0, 1, 0.1);
  broken.value[1] = std::nan("");
  EXPECT_THROW(ledger.pay(broken), std::logic_error);
  EXPECT_THROW(ledger.pay(release(0, 1, std::nan(""))), std::logic_error);
  EXPECT_EQ(ledger.spent(0), 0.1);
}

TEST(Ledger, OnlyALedgerMakesAPaidValue) {
  EXPECT_FALSE((std::is_constructible_v<privacy::Paid, int, int, privacy::Released>));
  EXPECT_FALSE(std::is_default_constructible_v<privacy::Paid>);
}

TEST(Ledger, ARoundOfAllNodesIsPaidAsAWholeOrNotAtAll) {
  Ledger ledger(3, true, 0.5);
  ASSERT_TRUE(ledger.pay_all({release(0, 0, 0.1), release(1, 0, 0.5), release(2, 0, 0.1)}));
  EXPECT_FALSE(ledger.pay_all({release(0, 1, 0.1), release(1, 1, 0.1), release(2, 1, 0.1)}));
  EXPECT_EQ(ledger.spent(0), 0.1);
  EXPECT_EQ(ledger.last_round(2), 0);
  EXPECT_THROW(ledger.pay_all({release(0, 1, 0), release(0, 1, 0)}), std::logic_error);
}

privacy::Release gaussian(int node, int round, double mu) {
  return {.node = node, .round = round, .value = Vector::Ones(3), .charge = {.kind = "objective-gaussian", .mu = mu}};
}

TEST(Ledger, GaussianRoundsAddInMuSquaredAndHaveNoPureEpsilon) {
  Ledger ledger(1, true);
  EXPECT_TRUE(ledger.pay(gaussian(0, 0, 0.3)));
  EXPECT_TRUE(ledger.pay(gaussian(0, 1, 0.4)));
  EXPECT_EQ(ledger.spent(0), INFINITY);                   // never below the truth
  EXPECT_NEAR(ledger.spent(0, 1e-6), 2.254084650, 1e-9);  // the golden gdp_eps(.5, 1e-6)
}

TEST(Ledger, ACapWithDeltaIsTheGdpFilterAndPureRoundsAreConverted) {
  const double mu = privacy::gdp_mu(1, 1e-5);
  Ledger ledger(1, true, Cap(1, 1e-5));
  EXPECT_TRUE(ledger.pay(gaussian(0, 0, 0.8 * mu)));
  EXPECT_FALSE(ledger.pay(gaussian(0, 1, 0.61 * mu)));
  EXPECT_TRUE(ledger.pay(gaussian(0, 1, 0.5 * mu)));
  const double rest = std::sqrt(1 - 0.64 - 0.25) * mu;
  double fits = 1e-6;
  while (privacy::gdp_of_pure(fits * 1.01) < rest) fits *= 1.01;
  EXPECT_FALSE(ledger.pay(release(0, 2, fits * 1.02)));
  EXPECT_TRUE(ledger.pay(release(0, 2, fits)));
  EXPECT_LE(ledger.spent(0, 1e-5), 1);
  EXPECT_GT(ledger.spent(0, 1e-5), 0.98);
}

TEST(Ledger, GaussianNoiseIsNotPaidUnderACapWithoutDelta) {
  Ledger ledger(1, true, 100.0);
  EXPECT_FALSE(ledger.pay(gaussian(0, 0, 1e-6)));
}

// The two ends where gaussian.h leaves its range: the ledger stays on the safe side.
TEST(Spend, EpsilonsBeyondAnyMeaningAreNotRoundedDown) {
  Spend pure(1e-5), gauss(1e-5), none(1e-5);
  pure.add(Price{.epsilon = 20000});
  gauss.add(Price{.mu = 300});
  none.add(Price{.epsilon = INFINITY});
  EXPECT_GE(pure.total(), 4 * 2 * 19900);  // mu/2 >= sqrt(2 * epsilon) up to a logarithm
  EXPECT_EQ(pure.epsilon(), INFINITY);
  EXPECT_EQ(gauss.epsilon(), INFINITY);
  EXPECT_EQ(none.epsilon(), INFINITY);
  EXPECT_EQ(Spend(1e-5).epsilon(), 0);
}

TEST(Recomputed, MatchesTheGoldenNumbers) {
  const auto at = [](double value, double golden) { EXPECT_NEAR(value, golden, 1e-12 * golden); };
  at(recomputed(priced("objective-gamma", {{"objective_rate", 0.1}, {"output_rate", 0}, {"tolerance", 0}})).epsilon,
     0.04848396446046);
  at(recomputed(priced("output-gamma", {{"output_rate", 1}, {"tolerance", 0}})).epsilon, 0.1081849653808);
  at(recomputed(priced("objective-gaussian", {{"objective_scale", 7}, {"output_scale", 0}, {"tolerance", 0}})).mu,
     0.0625);
  at(recomputed(priced("output-gaussian", {{"output_scale", 1}, {"tolerance", 1e-3}})).mu, 0.108679525222552);
  const Price inexact =
      recomputed(priced("objective-gaussian", {{"objective_scale", 7}, {"tolerance", 1e-6}, {"output_scale", 1e-3}}));
  at(inexact.mu, std::hypot(0.0625, 2e-6 / (4.044 * 1e-3)));
  at(recomputed(priced("objective-gaussian",
                       {{"objective_scale", 12}, {"output_scale", 0}, {"tolerance", 0}, {"verified_only", 1}}))
         .mu,
     0.04510555761622);
  // Beyond sigma = 1.75 kappa more noise buys nothing that is proved (theorem G, corollary 2).
  at(recomputed(priced("objective-gaussian", {{"objective_scale", 12}, {"output_scale", 0}, {"tolerance", 0}})).mu,
     2 * 0.21875 / (1.75 * 4.044));
}

TEST(Recomputed, WhatNoTheoremCoversIsInfinite) {
  const auto is_infinite = [](const privacy::Charge& c) {
    const Price p = recomputed(c);
    EXPECT_TRUE(std::isinf(p.epsilon) || std::isinf(p.mu)) << c.kind;
  };
  is_infinite({.kind = "laplace"});
  is_infinite({.kind = "objective-gamma"});
  is_infinite(priced("objective-gamma", {{"objective_rate", 1}, {"output_rate", 0}, {"tolerance", 1e-7}}));
  is_infinite(priced("objective-gamma", {{"objective_rate", 0}, {"output_rate", 1}, {"tolerance", 1e-7}}));
  is_infinite(priced("output-gamma", {{"output_rate", -1}, {"tolerance", 0}}));
  is_infinite(priced("objective-gaussian", {{"objective_scale", 7}, {"tolerance", 1e-7}}));
  is_infinite(priced("objective-gaussian",
                     {{"objective_scale", 0.05}, {"output_scale", 0}, {"tolerance", 0}}));  // C/(B sigma) > 2
  privacy::Charge hinge = priced("objective-gaussian", {{"objective_scale", 7}, {"output_scale", 0}, {"tolerance", 0}});
  hinge.parameters[2].second = 0;
  is_infinite(hinge);
  const Price free = recomputed({.kind = "none"});
  EXPECT_EQ(free.epsilon + free.mu, 0);
}

}  // namespace
}  // namespace parley::ledger
