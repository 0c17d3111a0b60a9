// Gaussian noise is what it is said to be.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "checks.h"

namespace parley::audit {
namespace {

TEST(Normal, HasTheRightLawAndAOnePercentScaleErrorWouldBeSeen) {
  Random random = Random::seeded(6, 0, 0, "sampler test");
  std::vector<double> sample = draws(is_short() ? 20000 : 1000000, [&] { return random.normal(); });
  EXPECT_TRUE(all_accepted(check_normal(sample)));
  for (double& x : sample) x *= 1 + small_error();
  EXPECT_TRUE(is_rejected(check_normal(sample)));
}

TEST(Normal, ScaleIsAStandardDeviationNotAVariance) {
  const auto standardised = [](double given, double meant) {
    Random random = Random::seeded(7, 0, 0, "sampler test");
    return draws(is_short() ? 5000 : 100000, [&] { return privacy::gaussian_vector(1, given, random)[0] / meant; });
  };
  EXPECT_TRUE(all_accepted(check_normal(standardised(3, 3))));
  EXPECT_TRUE(is_rejected(check_normal(standardised(9, 3))));               // the variance given as the scale
  EXPECT_TRUE(is_rejected(check_normal(standardised(std::sqrt(3.0), 3))));  // and the other way round
}

// All coordinates of n vectors in order, in units of the scale meant.
std::vector<double> coordinates(Index d, double given, double meant, std::size_t n, Random& random) {
  std::vector<double> sample;
  while (sample.size() < n) {
    const Vector b = privacy::gaussian_vector(d, given, random);
    for (Index k = 0; k < d; ++k) sample.push_back(b[k] / meant);
  }
  return sample;
}

class GaussianNoise : public ::testing::TestWithParam<Index> {};
INSTANTIATE_TEST_SUITE_P(InDimension, GaussianNoise, ::testing::Values(2, 10, 105),
                         ::testing::PrintToStringParamName());

TEST_P(GaussianNoise, HasIndependentCoordinatesOfTheRightScaleAndAOnePercentErrorWouldBeSeen) {
  const Index d = GetParam();
  Random random = Random::seeded(12, static_cast<std::uint64_t>(d), 0, "sampler test");
  const std::vector<double> sample = coordinates(d, 0.3, 0.3, is_short() ? 20000 : 1000000, random);
  EXPECT_TRUE(all_accepted(check_normal(sample)));
  EXPECT_TRUE(all_accepted(check_independent(sample, d)));
  for (const double factor :
       {1 + small_error(), 1 - small_error(), 0.3, std::sqrt(1 / 0.3)}) {  // the last two: scale², √scale
    std::vector<double> scaled = sample;
    for (double& x : scaled) x *= factor;
    EXPECT_TRUE(is_rejected(check_normal(scaled))) << "scale times " << factor;
  }
}

TEST_P(GaussianNoise, WithDependentCoordinatesIsRejected) {  // each coordinate alone has the right law
  const Index d = GetParam();
  const std::size_t n = is_short() ? 20000 : 200000;
  Random random = Random::seeded(13, static_cast<std::uint64_t>(d), 0, "sampler test");
  std::vector<double> repeated, common_size, correlated;
  while (repeated.size() < n) {
    const double once = random.normal(), size = std::abs(random.normal());
    double last = random.normal();
    for (Index k = 0; k < d; ++k) {
      repeated.push_back(once);
      common_size.push_back(random.uniform() < 0.5 ? size : -size);
      correlated.push_back(last = 0.05 * last + std::sqrt(1 - 0.05 * 0.05) * random.normal());
    }
  }
  EXPECT_TRUE(is_rejected(check_independent(repeated, d)));
  EXPECT_TRUE(is_rejected(check_independent(common_size, d)));
  if (!is_short()) {
    EXPECT_TRUE(is_rejected(check_independent(correlated, d)));
  }
}

TEST(Normal, ASumOfUniformsInItsPlaceIsRejected) {  // the right variance, tails cut off: the kurtosis is 2.9
  Random random = Random::seeded(8, 0, 0, "sampler test");
  const auto sum = [&] {
    double x = -6;
    for (int k = 0; k < 12; ++k) x += random.uniform();
    return x;
  };
  EXPECT_TRUE(is_rejected(check_normal(draws(is_short() ? 100000 : 500000, sum))));
}

}  // namespace
}  // namespace parley::audit
