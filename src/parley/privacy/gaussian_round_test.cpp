// Golden numbers: shared/spec/accounting_golden.json, sections b, c, e, f.
#include "parley/privacy/gaussian_round.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "parley/privacy/gaussian.h"

namespace parley::privacy {
namespace {

const RoundFacts A{.gradient_weight = 1750.0 / 8000, .strong_convexity = 0.22 / 5 + 4, .logistic = true};
const RoundFacts A20{.gradient_weight = 1750.0 / 2000, .strong_convexity = 0.22 / 20 + 6, .logistic = true};

void near(double value, double golden) {
  EXPECT_NEAR(value, golden, 1e-12 * golden);
}

TEST(GaussianRound, MatchesTheGoldenNumbers) {
  near(*objective_mu(A, 7, Bound::proved).value, 0.0625);
  near(*objective_mu(A, 12, Bound::verified).value, 0.04510555761622);
  near(output_mu(A, 1, 0), 0.1081849653808);
  near(output_mu(A, 1, 1e-3), 0.1086795252226);
  near(inexact_mu(A.strong_convexity, 1e-6, 1e-3), 0.0004945598417409);
  EXPECT_NEAR(gdp_epsilon(5 * *objective_mu(A, std::sqrt(106.0), Bound::verified).value, 1e-5), 0.9360414484349, 1e-9);
}

TEST(GaussianRound, CalibrationMatchesTheGoldenNumbers) {
  const auto scale = [](const RoundFacts& f, double epsilon) {
    return *objective_scale_for(f, gdp_mu(epsilon, 1e-5) / 5, Bound::verified).value;
  };
  EXPECT_NEAR(scale(A, 2), 4.361464724845, 1e-9);
  EXPECT_NEAR(scale(A, 1), 9.507947115663, 1e-8);
  EXPECT_NEAR(scale(A20, 4), 9.460166183302, 1e-8);
  EXPECT_NEAR(*objective_rate_for(A, 1.0 / 25).value, 0.07692771220286, 1e-12);
  EXPECT_NEAR(*objective_rate_for(A, 8.0 / 25).value, 0.7314285714286, 1e-12);
  EXPECT_NEAR(*objective_rate_for(A, 0.05).value, 0.1040562030305, 1e-12);
}

TEST(GaussianRound, ClaimsOnlyWhatIsProvedUnlessAskedForMore) {
  EXPECT_TRUE(objective_mu(A, 7, Bound::proved).proved);
  near(*objective_mu(A, 12, Bound::proved).value,
       2 * A.gradient_weight / (1.75 * A.strong_convexity));  // noise splitting: constant beyond 1.75κ
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
