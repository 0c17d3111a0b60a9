#include "parley/privacy/gaussian_round.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace parley::privacy {
namespace {

const RoundFacts A{.gradient_weight = 1750.0 / 8000, .strong_convexity = 0.22 / 5 + 4, .logistic = true};

TEST(GaussianRound, ClaimsOnlyWhatIsProvedUnlessAskedForMore) {
  EXPECT_TRUE(objective_mu(A, 7, Bound::proved).proved);
  const double split = 2 * A.gradient_weight / (1.75 * A.strong_convexity);
  EXPECT_NEAR(*objective_mu(A, 12, Bound::proved).value, split,
              1e-12 * split);  // noise splitting: constant beyond 1.75κ
  EXPECT_FALSE(objective_mu(A, 12, Bound::verified).proved);
  EXPECT_FALSE(objective_mu({.gradient_weight = 4, .strong_convexity = 1, .logistic = true}, 3, Bound::proved)
                   .value);                                 // C/(Bκ) = 4 > 3.5
  EXPECT_FALSE(objective_mu(A, 0.1, Bound::proved).value);  // k = 2.19 > 2
}

TEST(GaussianRound, OtherLossesAreRefusedByName) {
  RoundFacts hinge = A;
  hinge.logistic = false;
  const Mu mu = objective_mu(hinge, 7, Bound::verified);
  EXPECT_FALSE(mu.value);
  EXPECT_NE(mu.why_not.find("logistic loss only"), std::string::npos);
}

TEST(GaussianRound, WhatCannotBeReachedSaysWhatToRaise) {
  const Level level = objective_scale_for(A, 0.01, Bound::proved);
  EXPECT_FALSE(level.value);
  EXPECT_NE(level.why_not.find("raise the penalty until kappa >= "), std::string::npos);
  EXPECT_FALSE(objective_rate_for(A, 0.013).value);
}

// For random settings: calibrate, then account: never above the target, hardly below.
TEST(GaussianRound, CalibratedNoiseNeverExceedsItsTargetAndWastesNothing) {
  std::mt19937_64 draw(3);
  std::uniform_real_distribution<double> uniform;
  for (int i = 0; i < 2000; ++i) {
    const RoundFacts f{.gradient_weight = std::exp(-8 + 8 * uniform(draw)),
                       .strong_convexity = std::exp(-3 + 8 * uniform(draw)),
                       .logistic = true};
    const double mu = std::exp(-6 + 6 * uniform(draw)), tolerance = 1e-6 * f.gradient_weight;
    for (const Bound bound : {Bound::proved, Bound::verified})
      if (const Level level = objective_scale_for(f, mu, bound); level.value) {
        EXPECT_LE(*objective_mu(f, *level.value, bound).value, mu);
        EXPECT_GE(*objective_mu(f, *level.value, bound).value, 0.999 * mu);
      }
    EXPECT_LE(output_mu(f, output_scale_for(f, mu, tolerance), tolerance), mu);
    EXPECT_GE(output_mu(f, output_scale_for(f, mu, tolerance), tolerance), 0.999999 * mu);
    if (const Level rate = objective_rate_for(f, mu); rate.value) {
      EXPECT_LE(objective_epsilon(f, *rate.value), mu);
      EXPECT_GE(objective_epsilon(f, *rate.value), 0.999999 * mu);
    }
    EXPECT_LE(output_epsilon(f, output_rate_for(f, mu, tolerance), tolerance), mu);
  }
}

}  // namespace
}  // namespace parley::privacy
