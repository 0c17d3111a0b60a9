#include "parley/privacy/shared_noise.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "parley/base/vector.h"

namespace parley::privacy {
namespace {

// Golden numbers of the specification (cancelling_golden.json).
TEST(SharedNoise, VarianceGivenEverybodyElse) {
  struct Golden {
    int parties, colluders;
    double own, pair, v;
  };
  for (const Golden& g : std::vector<Golden>{{5, 1, 1, 3, 3.7},
                                             {5, 3, 1, 3, 1.9},
                                             {5, 4, 1, 3, 1.0},
                                             {100, 25, 0.2, 1, 2.8861538461538463},
                                             {100, 1, 0.2, 0.05, 0.27058823529411774},
                                             {3, 1, 2, 7, 7.698113207547169}}) {
    const double v = conditional_variance(g.parties, g.colluders, {.own = g.own, .pair = g.pair});
    EXPECT_NEAR(v, g.v, 1e-14 * g.v);
    EXPECT_LE(v, g.v * (1 + 1e-15));
  }
}

TEST(SharedNoise, CalibratedNumbers) {
  struct Golden {
    int parties, colluders;
    double m, own, pair, sum;
  };
  for (const Golden& g :
       std::vector<Golden>{{5, 1, 100, 0.5018856132284956, 4.993698800269051, 1.1222503481080839},
                           {100, 25, 100, 0.11604395649238095, 1.1546227886206624, 1.1604395649238095},
                           {20, 5, 10, 0.5423261445466404 / 2, 1.6269784336399213 / 2, 2.42535625036333 / 2},
                           {3, 1, 2, 0.816496580927726, 0.816496580927726, 1.414213562373095}}) {
    const SharedNoise noise = shared_noise_for(g.parties, g.colluders, g.m);
    EXPECT_NEAR(noise.own, g.own, 1e-11);
    EXPECT_NEAR(noise.pair, g.pair, 1e-11);
    EXPECT_NEAR(noise.own * std::sqrt(g.parties), g.sum, 1e-10);
    EXPECT_GE(conditional_variance(g.parties, g.colluders, noise), 1);
  }
  EXPECT_EQ(shared_noise_for(5, 4).pair, 0);
  EXPECT_EQ(shared_noise_for(5, 4).own, 1);
}

// The smallest 1/(Σ⁻¹)_ii over all honest parties and coalitions, by brute force: any s and p.
struct Worst {
  double v = std::numeric_limits<double>::infinity();
  int party = -1;
};
Worst worst(const std::vector<double>& own, const Matrix& pair, int colluders) {
  const int n = static_cast<int>(own.size());
  Worst found;
  for (unsigned coalition = 0; coalition < 1U << n; ++coalition) {
    if (std::popcount(coalition) != colluders) continue;
    std::vector<int> honest;
    for (int i = 0; i < n; ++i)
      if ((coalition >> i & 1U) == 0) honest.push_back(i);
    const auto h = static_cast<Index>(honest.size());
    Matrix covariance = Matrix::Zero(h, h);
    for (Index a = 0; a < h; ++a) {
      const int i = honest[static_cast<std::size_t>(a)];
      covariance(a, a) += own[static_cast<std::size_t>(i)] * own[static_cast<std::size_t>(i)];
      for (Index b = 0; b < h; ++b) {
        if (a == b) continue;
        const double p = pair(i, honest[static_cast<std::size_t>(b)]);
        covariance(a, a) += p * p;
        covariance(a, b) -= p * p;
      }
    }
    const Matrix inverse = covariance.inverse();
    for (Index a = 0; a < h; ++a)
      if (1 / inverse(a, a) < found.v) found = {1 / inverse(a, a), honest[static_cast<std::size_t>(a)]};
  }
  return found;
}

TEST(SharedNoise, TheClosedFormIsTheWorstOfAllCoalitions) {
  for (const int n : {2, 3, 5, 7})
    for (int c = 1; c < n; ++c) {
      const SharedNoise noise{.own = 0.7, .pair = 1.9};
      const double v = worst(std::vector<double>(static_cast<std::size_t>(n), 0.7), Matrix::Constant(n, n, 1.9), c).v;
      EXPECT_NEAR(conditional_variance(n, c, noise), v, 1e-12 * v) << n << ", " << c;
    }
}

// A party with another p/s than the rest, and a pair that is missing, both lower v: why the plan has one for all, and
// why nothing is released before every key is there. Golden numbers for a ring.
TEST(SharedNoise, UnequalAndMissingPairsLowerIt) {
  Matrix ring = Matrix::Zero(6, 6);
  for (int i = 0; i < 6; ++i) ring(i, (i + 1) % 6) = ring((i + 1) % 6, i) = 1.5;
  EXPECT_NEAR(worst(std::vector<double>(6, 1), ring, 1).v, 2.072448653467678, 1e-12);
  EXPECT_NEAR(worst(std::vector<double>(6, 1), ring, 2).v, 1.0, 1e-12);
  const Matrix all = Matrix::Constant(5, 5, 3);
  Matrix missing = all;
  missing(0, 1) = missing(1, 0) = 0;
  const double whole = worst(std::vector<double>(5, 1), all, 1).v;
  EXPECT_LT(worst(std::vector<double>(5, 1), missing, 1).v, whole - 0.1);
  EXPECT_LT(worst({1, 1, 1, 1, 0.5}, all, 1).v, whole);
}

// The golden case "mixed": every party and every pair has noise of its own size.
TEST(SharedNoise, TheWorstCoalitionOfUnequalParties) {
  Matrix pair = Matrix::Zero(6, 6);
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j)
      if (i != j) pair(i, j) = 0.3 * (1 + (i + j) % 4);
  const Worst found = worst({0.5, 0.6, 0.7, 0.8, 0.9, 1.0}, pair, 2);
  EXPECT_NEAR(found.v, 0.8155490885130684, 1e-13);
  EXPECT_EQ(found.party, 0);
}

TEST(SharedNoise, MoreColludersNeverRaiseIt) {
  double before = std::numeric_limits<double>::infinity();
  for (int c = 1; c < 100; ++c) {
    const double v = conditional_variance(100, c, {.own = 0.2, .pair = 1});
    EXPECT_LE(v, before);
    before = v;
  }
  EXPECT_NEAR(before, 0.04, 1e-15);  // everybody else together: its own noise alone
}

}  // namespace
}  // namespace parley::privacy
