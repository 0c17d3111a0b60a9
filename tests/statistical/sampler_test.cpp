// The noise is what it is said to be: right samplers are accepted, slightly wrong ones are rejected. Streams are
// seeded, so a verdict is a constant; one more run on secret() has a false-alarm probability below 1e-9. n = 10^6 where
// nothing else is said.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <numbers>
#include <set>
#include <string>
#include <vector>

#include "parley/audit/statistics.h"
#include "parley/privacy/random.h"

namespace parley::audit {
namespace {

using privacy::Random;

bool is_short() {
  return std::getenv("PARLEY_TEST_SHORT") != nullptr;
}
bool is_full() {
  return std::getenv("PARLEY_TEST_FULL") != nullptr;
}

constexpr double accepted = 1e-4;  // of every p-value of a right sampler
constexpr double rejected = 1e-9;  // of the smallest p-value of a wrong one

struct Check {
  std::string name;
  double p = 1;
};
using Checks = std::vector<Check>;

const Check& worst(const Checks& checks) {
  return *std::ranges::min_element(checks, {}, &Check::p);
}

::testing::AssertionResult all_accepted(const Checks& checks, double level = accepted) {
  for (const Check& c : checks)
    if (!(c.p >= level)) return ::testing::AssertionFailure() << c.name << " has p = " << c.p;
  return ::testing::AssertionSuccess();
}

::testing::AssertionResult is_rejected(const Checks& checks) {
  const Check& c = worst(checks);
  if (c.p < rejected) return ::testing::AssertionSuccess() << c.name << " has p = " << c.p;
  return ::testing::AssertionFailure() << "not rejected; the smallest p-value is " << c.p << " of " << c.name;
}

// rate·‖b‖ ~ Gamma(d, 1): its whole law, its mean d and its variance d (whose estimate has variance (2d² + 6d)/n).
Checks check_norms(const std::vector<double>& norms, double d) {
  const auto n = static_cast<double>(norms.size());
  const Moments m = moments(norms);
  return {{"norm: Kolmogorov-Smirnov",
           ks_p_value(ks_distance(norms, [d](double x) { return gamma_cdf(x, d); }), norms.size())},
          {"norm: mean", two_sided_p((m.mean - d) / std::sqrt(d / n))},
          {"norm: variance", two_sided_p((m.variance - d) / std::sqrt((2 * d * d + 6 * d) / n))}};
}

using Sampler = std::function<Vector(Random& random)>;

// b with density ∝ exp(−rate‖b‖) in d dimensions: the norm as above, the direction uniform and independent of it.
Checks check_vectors(const Sampler& sampler, Index dimension, double rate, std::size_t n, Random& random,
                     std::vector<double>* norms_out = nullptr) {
  const auto d = static_cast<double>(dimension), count = static_cast<double>(n);
  std::vector<double> norms, first, angle, fourth;
  Vector mean = Vector::Zero(dimension), square = Vector::Zero(dimension);
  double product = 0;
  for (std::size_t i = 0; i < n; ++i) {
    Vector u = sampler(random);
    const double norm = u.norm();
    u /= norm;
    norms.push_back(rate * norm);
    first.push_back(u[0]);
    mean += u / count;
    square += u.cwiseAbs2() / count;
    fourth.push_back(u.array().square().square().sum());
    if (dimension > 1) product += u[0] * u[1] / count;
    if (dimension == 2) angle.push_back(std::atan2(u[1], u[0]));
  }
  if (norms_out != nullptr) *norms_out = norms;
  Checks checks = check_norms(norms, d);
  checks.push_back({"direction: length of the mean", chi_squared_p(count * d * mean.squaredNorm(), d)});
  if (dimension == 1) return checks;
  const double spread = std::sqrt((3 / (d * (d + 2)) - 1 / (d * d)) / count);  // of a mean of u_k²
  const double largest = (square.array() - 1 / d).abs().maxCoeff();
  checks.push_back({"direction: second moments", std::min(1.0, d * two_sided_p(largest / spread))});
  checks.push_back({"direction: coordinates uncorrelated", two_sided_p(product * std::sqrt(count * d * (d + 2)))});
  const Moments m = moments(fourth);
  checks.push_back({"direction: fourth moments", two_sided_p((m.mean - 3 / (d + 2)) / std::sqrt(m.variance / count))});
  checks.push_back({"direction: law of a coordinate",
                    ks_p_value(ks_distance(first, [d](double u) { return sphere_coordinate_cdf(u, d); }), n)});
  if (dimension == 2)
    checks.push_back({"direction: angle",
                      ks_p_value(ks_distance(angle, [](double a) { return a / (2 * std::numbers::pi) + 0.5; }), n)});
  double correlation = 0;
  for (std::size_t i = 0; i < n; ++i) correlation += (norms[i] - d) * (first[i] * first[i] - 1 / d) / count;
  checks.push_back({"norm and direction independent", two_sided_p(correlation / (std::sqrt(d) * spread))});
  return checks;
}

std::size_t size_for(Index dimension) {
  if (is_short()) return dimension > 10 ? 5000 : 20000;
  return dimension > 10 && !is_full() ? 200000 : 1000000;
}
double small_error() {
  return is_short() ? 0.1 : 0.01;
}  // the scale error that must be seen at that size

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

std::vector<double> draws(std::size_t n, const std::function<double()>& draw) {
  std::vector<double> sample;
  for (std::size_t i = 0; i < n; ++i) sample.push_back(draw());
  return sample;
}

Checks check_normal(const std::vector<double>& sample) {
  const auto n = static_cast<double>(sample.size());
  const Moments m = moments(sample);
  return {{"normal: Kolmogorov-Smirnov", ks_p_value(ks_distance(sample, normal_cdf), sample.size())},
          {"normal: mean", two_sided_p(m.mean * std::sqrt(n))},
          {"normal: variance", two_sided_p((m.variance - 1) * std::sqrt(n / 2))},
          {"normal: kurtosis", two_sided_p((m.kurtosis - 3) * std::sqrt(n / 24))}};
}

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

// Coordinates of one vector: products of neighbours and of their squares average 0 and 1; squared norms are χ².
Checks check_independent(const std::vector<double>& sample, Index d) {
  const auto width = static_cast<std::size_t>(d), vectors = sample.size() / width;
  double product = 0, squares = 0;
  std::vector<double> norms;
  for (std::size_t v = 0; v < vectors; ++v) {
    double norm = 0;
    for (std::size_t k = 0; k < width; ++k) {
      const double x = sample[v * width + k], next = sample[v * width + (k + 1) % width];
      norm += x * x;
      product += x * next;
      squares += (x * x - 1) * (next * next - 1);
    }
    norms.push_back(norm / 2);
  }
  const auto pairs = static_cast<double>(vectors * width) * (width == 2 ? 2 : 1);  // two coordinates: each pair twice
  return {
      {"coordinates: products of neighbours", two_sided_p(product / std::sqrt(pairs))},
      {"coordinates: products of their squares", two_sided_p(squares / std::sqrt(4 * pairs))},
      {"vectors: squared norms",
       ks_p_value(ks_distance(norms, [d](double x) { return gamma_cdf(x, static_cast<double>(d) / 2); }), vectors)}};
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

TEST(Statistics, ClopperPearsonAgreesWithClosedForms) {
  EXPECT_NEAR(binomial_upper(0, 1000, 0.001), 1 - std::pow(0.001, 1e-3), 1e-12);
  EXPECT_NEAR(binomial_lower(1000, 1000, 0.001), std::pow(0.001, 1e-3), 1e-12);
  EXPECT_EQ(binomial_lower(0, 10, 0.001), 0);
  EXPECT_EQ(binomial_upper(10, 10, 0.001), 1);
  EXPECT_NEAR(binomial_lower(8, 10, 0.025), 0.4439, 1e-4);  // the textbook's 95 % interval of 8 in 10
  EXPECT_NEAR(binomial_upper(8, 10, 0.025), 0.9748, 1e-4);
}

TEST(Statistics, KolmogorovsLawHasItsTabulatedQuantiles) {
  EXPECT_NEAR(ks_p_value(1.3581e-3, 1000000), 0.05, 2e-4);
  EXPECT_NEAR(ks_p_value(1.6276e-3, 1000000), 0.01, 1e-4);
  EXPECT_NEAR(ks_distance({0.1, 0.4, 0.7}, [](double x) { return x; }), 0.3, 1e-12);
}

TEST(Statistics, RandomisedResponseIsBoundedBelowItsEpsilonAndNearIt) {
  Random random = Random::seeded(11, 0, 0, "sampler test");
  const double epsilon = 1, keep = 1 / (1 + std::exp(-epsilon));
  std::vector<double> d, other;
  for (int i = 0; i < 20000; ++i) {
    d.push_back(random.uniform() < keep ? 1 : 0);
    other.push_back(random.uniform() < keep ? 0 : 1);
  }
  const Cut cut = choose_cut(d, other, 0.001);
  EXPECT_EQ(cut.threshold, 1);
  EXPECT_LT(cut.epsilon, epsilon);
  EXPECT_GT(cut.epsilon, 0.9 * epsilon);
  EXPECT_EQ(epsilon_lower_bound(cut.threshold, d, other, 0.001), cut.epsilon);
}

}  // namespace
}  // namespace parley::audit
