// Noise with density ∝ exp(−rate‖b‖) is what it is said to be.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "checks.h"

namespace parley::audit {
namespace {

class GammaNormNoise : public ::testing::TestWithParam<Index> {};
INSTANTIATE_TEST_SUITE_P(InDimension, GammaNormNoise, ::testing::Values(1, 2, 10, 105),
                         ::testing::PrintToStringParamName());

TEST_P(GammaNormNoise, HasTheRightScaleShapeAndDirectionAndAOnePercentScaleErrorWouldBeSeen) {
  const Index d = GetParam();
  Random random = Random::seeded(1, static_cast<std::uint64_t>(d), 0, "sampler test");
  std::vector<double> norms;
  EXPECT_TRUE(all_accepted(check_vectors([d](Random& r) { return privacy::gamma_norm_vector(d, 2.5, r); }, d, 2.5,
                                         size_for(d), random, &norms)));
  for (const double error : {1 + small_error(), 1 - small_error()}) {
    std::vector<double> scaled = norms;
    for (double& x : scaled) x *= error;
    EXPECT_TRUE(is_rejected(check_norms(scaled, static_cast<double>(d)))) << "scale times " << error;
  }
}

TEST_P(GammaNormNoise, OfOneExponentialTooFewOrTooManyIsRejected) {
  const Index d = GetParam();
  for (const Index shape : {d - 1, d + 1}) {
    if (shape == 0) continue;
    Random random = Random::seeded(2, static_cast<std::uint64_t>(d), static_cast<std::uint64_t>(shape), "sampler test");
    std::vector<double> norms;  // of the shape's own dimension: the norm is what is wrong
    for (std::size_t i = 0; i < std::min<std::size_t>(size_for(d), 200000); ++i)
      norms.push_back(privacy::gamma_norm_vector(shape, 1, random).norm());
    EXPECT_TRUE(all_accepted(check_norms(norms, static_cast<double>(shape))));
    if (is_short() && d > 10) continue;  // 1 % of shape: not with so few
    EXPECT_TRUE(is_rejected(check_norms(norms, static_cast<double>(d)))) << "shape " << shape;
  }
}

double laplace(Random& random) {
  return random.exponential() * (random.uniform() < 0.5 ? -1 : 1);
}

TEST_P(GammaNormNoise, WithIndependentLaplaceCoordinatesIsRejected) {
  const Index d = GetParam();
  if (d == 1) GTEST_SKIP() << "in one dimension the two laws are the same";
  const auto coordinates = [d](Random& r) {
    Vector b(d);
    for (Index k = 0; k < d; ++k) b[k] = laplace(r);
    return b;
  };
  const std::size_t n = is_short() ? 5000 : d > 10 ? 20000 : 100000;
  Random random = Random::seeded(3, static_cast<std::uint64_t>(d), 0, "sampler test");
  EXPECT_TRUE(is_rejected(check_vectors(coordinates, d, 1, n, random)));
  // The same direction under the right norm: now only the direction is wrong.
  const auto right_norm = [&](Random& r) {
    const double norm = privacy::gamma_norm_vector(d, 1, r).norm();
    const Vector u = coordinates(r);
    return Vector(u * (norm / u.norm()));
  };
  EXPECT_TRUE(is_rejected(check_vectors(right_norm, d, 1, n, random)));
}

TEST_P(GammaNormNoise, WithItsDirectionFromACubeIsRejected) {
  const Index d = GetParam();
  if (d == 1) GTEST_SKIP() << "in one dimension there are two directions";
  const auto cube = [d](Random& r) {
    Vector u(d);
    for (Index k = 0; k < d; ++k) u[k] = 2 * r.uniform() - 1;
    return Vector(u * (privacy::gamma_norm_vector(d, 1, r).norm() / u.norm()));
  };
  Random random = Random::seeded(4, static_cast<std::uint64_t>(d), 0, "sampler test");
  EXPECT_TRUE(is_rejected(check_vectors(cube, d, 1, is_short() ? 5000 : d > 10 ? 20000 : 100000, random)));
}

TEST_P(GammaNormNoise, WithAllCoordinatesOfOneSignIsRejected) {
  const Index d = GetParam();
  Random random = Random::seeded(5, static_cast<std::uint64_t>(d), 0, "sampler test");
  EXPECT_TRUE(is_rejected(check_vectors(
      [d](Random& r) { return Vector(privacy::gamma_norm_vector(d, 1, r).cwiseAbs()); }, d, 1, 2000, random)));
}

}  // namespace
}  // namespace parley::audit
