// What the noise is made of: uniform numbers with all their bits, and streams that differ where they must. One run on
// secret() has a false-alarm probability below 1e-9.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <vector>

#include "checks.h"

namespace parley::audit {
namespace {

TEST(Uniform, HasTheRightLaw) {
  Random random = Random::seeded(9, 0, 0, "sampler test");
  const std::vector<double> sample = draws(is_short() ? 20000 : 1000000, [&] { return random.uniform(); });
  const auto law = [&](double stretch) {
    return Checks{{"uniform", ks_p_value(ks_distance(sample, [=](double x) { return std::min(1.0, x * stretch); }),
                                         sample.size())}};
  };
  EXPECT_TRUE(all_accepted(law(1)));
  EXPECT_TRUE(is_rejected(law(1 + 5 * small_error())));
  EXPECT_GT(*std::ranges::min_element(sample), 0);
  EXPECT_LT(*std::ranges::max_element(sample), 1);
}

TEST(Uniform, SmallValuesHaveAllTheirBits) {
  Random random = Random::seeded(10, 0, 0, "sampler test");
  std::vector<double> small;  // values on a 2⁻⁵³ grid would have at most 45 bits here, and the last ones would be 0
  std::vector<double> low_bits(256, 0.0);
  for (int i = 0; i < (is_short() ? 200000 : 4000000); ++i) {
    const double u = random.uniform();
    if (u >= 0x1p-8) continue;
    small.push_back(u);
    int exponent = 0;
    const double mantissa = std::ldexp(std::frexp(u, &exponent), 53);  // a whole number below 2⁵³
    ++low_bits[static_cast<std::size_t>(static_cast<std::uint64_t>(mantissa) & 255)];
  }
  const auto n = static_cast<double>(small.size());
  const auto on_grid =
      static_cast<double>(std::ranges::count_if(small, [](double u) { return std::floor(u * 0x1p53) == u * 0x1p53; }));
  EXPECT_LT(on_grid / n, 0.02);  // expected: below 2⁻⁸
  double chi = 0;
  for (const double count : low_bits) chi += (count - n / 256) * (count - n / 256) / (n / 256);
  EXPECT_GT(chi_squared_p(chi, 255), accepted);
  EXPECT_EQ(std::set<double>(small.begin(), small.end()).size(), small.size()) << "all different";
  std::vector<double> scaled;
  for (const double u : small) scaled.push_back(u * 0x1p8);
  EXPECT_GT(ks_p_value(ks_distance(scaled, [](double x) { return x; }), scaled.size()), accepted)
      << "uniform also when magnified";
}

// Twelve checks on one secret run: with each at 1e-12 a right sampler fails once in 10^10 runs or so (the normal
// approximation of the z-tests is good to a factor of a few there, n being what it is), hence a false alarm has a
// probability below 1e-9.
TEST(SecretNoise, HasTheSameLaws) {
  Random random = Random::secret();
  const std::size_t n = is_short() ? 10000 : 100000;
  EXPECT_TRUE(all_accepted(
      check_vectors([](Random& r) { return privacy::gamma_norm_vector(10, 1, r); }, 10, 1, n, random), 1e-12));
  EXPECT_TRUE(all_accepted(check_normal(draws(n, [&] { return random.normal(); })), 1e-12));
}

std::vector<std::uint64_t> first_bits(Random random) {
  std::vector<std::uint64_t> bits;
  for (int i = 0; i < 1000; ++i) bits.push_back(random.bits());
  return bits;
}

TEST(SecretNoise, TwoStreamsDiffer) {
  const auto a = first_bits(Random::secret()), b = first_bits(Random::secret());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NE(a[i], b[i]);  // by chance once in 10^16
  const privacy::NoiseSource secret(std::nullopt);
  EXPECT_TRUE(secret.is_private());
  EXPECT_NE(first_bits(secret.stream(0, 1)), first_bits(secret.stream(0, 1))) << "a retry of a round must draw afresh";
}

TEST(SeededNoise, IsTheSameForTheSameSeedNodeRoundAndPurposeAndDiffersOtherwise) {
  const privacy::NoiseSource source(7);
  EXPECT_FALSE(source.is_private());
  EXPECT_EQ(first_bits(source.stream(3, 4)), first_bits(Random::seeded(7, 3, 4, "noise")));
  std::set<std::vector<std::uint64_t>> all;
  std::size_t streams = 0;
  for (const std::uint64_t seed : {0, 1, 12})
    for (const std::uint64_t node : {0, 1, 2, 11})
      for (const std::uint64_t round : {0, 1, 2, 12})
        for (const char* purpose : {"noise", "start"}) {
          const auto bits = first_bits(Random::seeded(seed, node, round, purpose));
          EXPECT_EQ(bits, first_bits(Random::seeded(seed, node, round, purpose)));
          all.insert(bits);
          ++streams;
        }
  EXPECT_EQ(all.size(), streams);
}

TEST(SeededNoise,
     IsNotRepeatedWithinAStream) {  // 4096-byte blocks of keystream: the next block is not the last one again
  Random random = Random::seeded(1, 1, 1, "sampler test");
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 20000; ++i) seen.insert(random.bits());
  EXPECT_EQ(seen.size(), 20000U);
}

}  // namespace
}  // namespace parley::audit
