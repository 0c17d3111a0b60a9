// What a plan charges for noise that cancels, and what a ledger makes of it.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "parley/algorithm/schedule.h"
#include "parley/ledger/spend.h"

namespace parley::run {
namespace {

using ledger::Price;
using ledger::recomputed;
constexpr double delta = 1e-6;

privacy::Charge planned_charge(const std::string& algorithm) {
  const algorithm::Options o{.algorithm = algorithm, .rounds = 2, .epsilon = {1}, .delta = delta, .colluders = 1};
  return algorithm::make_plan(o, {.degree = {1, 1, 1, 1}, .records = {99, 99, 99, 99}, .features = 3})
      .nodes[0]
      .private_rounds[0]
      .charge;
}

TEST(SharedCharge, IsComputedAgainFromItsParameters) {
  for (const char* algorithm : {"newton", "dp-gd", "linear-admm"}) {
    const privacy::Charge c = planned_charge(algorithm);
    ASSERT_TRUE(c.mu_colluders) << algorithm;
    const Price p = recomputed(c);
    EXPECT_NEAR(p.mu, c.mu, 1e-12) << algorithm;
    EXPECT_NEAR(p.mu_colluders.value_or(0), *c.mu_colluders, 1e-12) << algorithm;
    EXPECT_GT(c.mu, 1.3 * *c.mu_colluders) << algorithm;
  }
}

// Whoever takes the smaller account, or the larger share, away pays for what is really its own.
TEST(SharedCharge, WhatDoesNotCoverItsParametersIsNotCovered) {
  const privacy::Charge c = planned_charge("newton");
  const auto with = [&](const std::string& name, double value) {
    privacy::Charge other = c;
    for (auto& [n, v] : other.parameters)
      if (n == name) v = value;
    return recomputed(other);
  };
  privacy::Charge alone = c;
  alone.mu_colluders.reset();
  EXPECT_NEAR(recomputed(alone).mu, c.mu, 1e-12) << "still by its own noise";
  EXPECT_TRUE(std::isinf(with("own_share", 0.1).epsilon)) << "v below 1";
  EXPECT_TRUE(std::isinf(with("pair_share", 0.1).epsilon)) << "v below 1";
  EXPECT_TRUE(std::isinf(with("colluders", 2).epsilon)) << "v below 1";
  EXPECT_TRUE(std::isinf(with("colluders", 0).epsilon));
  EXPECT_TRUE(std::isinf(with("parties", 1).epsilon));
  for (const char* gone : {"own_share", "pair_share", "parties", "colluders"}) {
    privacy::Charge other = c;
    std::erase_if(other.parameters, [&](const auto& p) { return p.first == gone; });
    EXPECT_TRUE(std::isinf(recomputed(other).epsilon)) << gone;
  }
  privacy::Charge huber = c;
  for (auto& [n, v] : huber.parameters) {
    if (n == "diameter_at_point") v = 1;
    if (n == "logistic") v = 0;
  }
  EXPECT_TRUE(std::isinf(recomputed(huber).mu)) << "the diameter at a point is that of the logistic loss";
}

}  // namespace
}  // namespace parley::run
