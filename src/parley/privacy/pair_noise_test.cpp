#include "parley/privacy/pair_noise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "parley/privacy/random.h"

namespace parley::privacy {
namespace {

PairKey counting() {
  PairKey key{};
  std::iota(key.begin(), key.end(), static_cast<unsigned char>(0));
  return key;
}

Vector z(const PairKey& key, const PairIndex& index, Index dimension) {
  Vector one = Vector::Zero(dimension);
  add_pair_noise(one, 1, key, index);
  return one;
}

// By Python's hashlib and cryptography from the words at the top of pair_noise.h alone: organisations with other builds
// draw the same.
TEST(PairNoise, IsWhatItsDefinitionSays) {
  const Vector point{{0.5, -2.0}};
  const Vector with = z(counting(), {.round = 7, .release = 1, .point = &point}, 3),
               without = z(counting(), {.round = 7}, 3);
  const std::vector<double> golden{-1.125270866388771, 1.8545867543626193, -0.5845771804370998},
      golden_without{-0.1134936381971134, -0.6698341726627761, -0.19355298774578453};
  for (Index k = 0; k < 3; ++k) {
    EXPECT_NEAR(with[k], golden[static_cast<std::size_t>(k)], 1e-15 * 4);
    EXPECT_NEAR(without[k], golden_without[static_cast<std::size_t>(k)], 1e-15 * 4);
  }
}

TEST(PairNoise, CancelsOverAllParties) {
  for (const int parties : {2, 3, 5, 40}) {
    const SimulatedPairs keys(parties, counting());
    Vector sum = Vector::Zero(11), size = sum;
    for (int i = 0; i < parties; ++i) {
      const Vector one = keys.sum(i, {.round = 3, .release = 1}, 11);
      sum += one;
      size += one.cwiseAbs();
    }
    EXPECT_LT(sum.cwiseAbs().maxCoeff(), 1e-12) << parties;
    EXPECT_GT(size.minCoeff(), 0.001) << parties;
  }
}

TEST(PairNoise, AStreamServesOneVector) {
  const Vector here{{1.0, 2.0}}, there{{1.0, 2.5}};
  const SimulatedPairs keys(4, counting());
  std::vector<Vector> all;
  for (const int round : {1, 2})
    for (const int release : {0, 1})
      for (const Vector* point : {static_cast<const Vector*>(nullptr), &here, &there})
        for (const auto& [i, j] : {std::pair(0, 1), std::pair(0, 2), std::pair(1, 2)})
          all.push_back(z(keys.key(i, j), {.round = round, .release = release, .point = point}, 4));
  for (std::size_t a = 0; a < all.size(); ++a)
    for (std::size_t b = 0; b < a; ++b)
      for (Index k = 0; k < 4; ++k) EXPECT_NE(all[a][k], all[b][k]) << a << " and " << b;
}

TEST(PairNoise, BothSidesFindTheSameKey) {
  const SimulatedPairs keys(3, counting());
  EXPECT_EQ(keys.key(0, 2), keys.key(2, 0));
  EXPECT_NE(keys.key(0, 2), keys.key(0, 1));
  const SimulatedPairs other(3, PairKey{});
  EXPECT_NE(keys.key(0, 2), other.key(0, 2));
}

TEST(PairNoise, NothingIsDrawnBeforeThereAreKeys) {
  NoiseSource source(1);
  EXPECT_THROW(source.stream(0, 1).shared(3, 0, nullptr), std::logic_error);
  source.share(std::make_shared<SimulatedPairs>(2, counting()));
  EXPECT_EQ(source.stream(0, 1).shared(3, 0, nullptr), -source.stream(1, 1).shared(3, 0, nullptr));
  EXPECT_THROW(source.stream(2, 1).shared(3, 0, nullptr), std::logic_error) << "a party that there is not";
}

TEST(PairNoise, ARestartFindsTheSameSharedNoiseAndDrawsItsOwnAfresh) {
  const auto keys = std::make_shared<SimulatedPairs>(3, counting());
  Vector drawn[2];
  for (Vector& value : drawn) {
    NoiseSource source(std::nullopt);
    source.share(keys);
    Random random = source.stream(1, 4);
    value = Vector::Zero(5);
    add_noise(value, 2, {.own = 0.5, .pair = 3}, random, 1);
    const Vector own = value - 6 * keys->sum(1, {.round = 4, .release = 1}, 5);
    EXPECT_LT(own.norm(), 20);  // 18 standard deviations
  }
  EXPECT_NE(drawn[0], drawn[1]);
}

}  // namespace
}  // namespace parley::privacy
