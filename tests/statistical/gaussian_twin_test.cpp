// Deliberately broken twins with Gaussian noise. Each claims what the product would claim or what a careless account
// would, and the audit must refute it. The faults live here; the product has no switch for any of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "cell.h"
#include "parley/audit/gaussian.h"
#include "parley/audit/statistics.h"
#include "parley/privacy/gaussian.h"

namespace parley::audit {
namespace {

using algorithm::PrivateRound;
using algorithm::Schedule;
using privacy::Random;

long gaussian_runs() {
  return is_full() ? 100000 : is_short() ? 4000 : 20000;
}

template <typename Tamper>
void expect_round_refuted(const std::string& twin, const GaussianOptions& options, Tamper tamper) {
  const Scene scene = make_gaussian_scene(options);
  const auto each = [&](Schedule& s) {
    for (PrivateRound& r : s.private_rounds) tamper(r, &r == &s.private_rounds.back());
  };
  expect_gaussian_refuted(twin, scene, tampered(scene, each), options.mu, gaussian_runs());
}

std::vector<GaussianOptions> one_round() {
  return {{.ratio = 0.75}, {.algorithm = "pvp", .noise_on = "output"}};
}

TEST(BrokenGaussianTwin, HalvedNoiseIsRefuted) {
  for (GaussianOptions o : one_round())
    for (const double mu : {0.5, 2.0}) {
      o.mu = mu;
      expect_round_refuted("noise halved, " + o.noise_on.text, o, [](PrivateRound& r, bool) {
        r.objective_scale /= 2;
        r.output_scale /= 2;
      });
    }
}

TEST(BrokenGaussianTwin, AStandardDeviationTakenForAVarianceIsRefuted) {  // N(0, scale): less noise where scale > 1
  expect_round_refuted("variance = scale, objective", {.ratio = 0.75}, [](PrivateRound& r, bool) {
    ASSERT_GT(r.objective_scale, 1.5);
    r.objective_scale = std::sqrt(r.objective_scale);
  });
  expect_round_refuted("variance = scale, output",
                       {.algorithm = "pvp", .noise_on = "output", .ratio = 9, .depth = 900},  // the scale is then 9
                       [](PrivateRound& r, bool) {
                         ASSERT_GT(r.output_scale, 1.5);
                         r.output_scale = std::sqrt(r.output_scale);
                       });
}

TEST(BrokenGaussianTwin, AVarianceTakenForAStandardDeviationIsRefuted) {  // N(0, scale⁴): less noise where scale < 1
  expect_round_refuted("deviation = scale squared, objective", {.ratio = 0.75, .records = 10},
                       [](PrivateRound& r, bool) {
                         ASSERT_LT(r.objective_scale, 0.7);
                         r.objective_scale *= r.objective_scale;
                       });
  expect_round_refuted("deviation = scale squared, output", {.algorithm = "pvp", .noise_on = "output"},
                       [](PrivateRound& r, bool) {
                         ASSERT_LT(r.output_scale, 0.7);
                         r.output_scale *= r.output_scale;
                       });
}

// PeerNode refuses a round without any noise, so the twin keeps a billionth of it.
TEST(BrokenGaussianTwin, ALastRoundWithHardlyAnyNoiseIsRefuted) {
  for (GaussianOptions o : one_round()) {
    o.rounds = 3;
    expect_round_refuted("last round clean, " + o.noise_on.text, o, [](PrivateRound& r, bool last) {
      if (last && r.objective_scale > 0)
        r.objective_scale *= 1e-9;
      else if (last)
        r.output_scale *= 1e-9;
    });
  }
}

// The next twins go wrong by a few per cent of a small δ, which no affordable number of runs shows; the integral does.
// Opposed rows with one of them at the bend of its loss, `bend` standard deviations from the middle of the noise, the
// other one far on the wrong side; or, as in the theorem's proof, one row against an empty one, at half the claim.
struct Bent {
  double ratio = 0, mu = 0;
  bool hinge = false, removal = false;
  double tilt = 0.02, depth = 10000;
};
Scene bent_scene(const Bent& b, double bend) {
  GaussianOptions o{.mu = b.mu, .ratio = b.ratio, .tilt = b.tilt, .depth = b.depth};
  o.across =
      b.tilt * b.depth - bend * b.ratio;  // c·across − tilt·depth = −bend·σ/κ: the other row's score is far below 0
  Scene scene = make_gaussian_scene(o);
  if (b.hinge) scene.schedule.loss = {.kind = problem::LossKind::huber_hinge, .width = 0.5};
  if (b.removal)
    for (double& x : scene.rows[1].value) x = 0;
  return scene;
}

Excess worst_excess(const Bent& b) {
  Excess worst;
  for (double bend = 0; bend <= 4; bend += is_short() ? 2 : 0.5) {
    const Scene scene = bent_scene(b, bend);
    const double claim = 2 * scene.schedule.weight / scene.schedule.private_rounds[0].objective_scale;
    const Profile profile = exact_profile(scene, is_short() ? 300 : 1200);
    EXPECT_NEAR(profile.mass(0), 1, 1e-3);
    EXPECT_NEAR(profile.mass(1), 1, 1e-3);
    const Excess e = largest_excess(profile, b.removal ? claim / 2 : claim);
    if (e.ratio > worst.ratio) worst = e;
  }
  std::printf("  twin: %s, sigma/kappa %.2f, mu %.2f, %s: delta %.2e at epsilon %.3f is %.3f of the claimed\n",
              b.hinge ? "hinge charged as logistic" : "logistic without the Jacobian", b.ratio, b.mu,
              b.removal ? "one row against none at half the claim" : "replace one", worst.delta, worst.epsilon,
              worst.ratio);
  return worst;
}

TEST(BrokenGaussianTwin, TheHuberHingeChargedLikeTheLogisticLossIsRefuted) {
  const double seen = is_short() ? 1.02 : 1.01;  // the sums are good to a tenth of that
  EXPECT_GT(worst_excess({.ratio = 1.75, .mu = 0.04, .hinge = true}).ratio, is_short() ? 1.5 : 1.9);
  EXPECT_GT(worst_excess({.ratio = 0.75, .mu = 0.04, .hinge = true}).ratio, seen);
  EXPECT_GT(worst_excess({.ratio = 1.75, .mu = 1, .hinge = true}).ratio, is_short() ? 1.2 : 1.3);
  EXPECT_GT(worst_excess({.ratio = 0.75, .mu = 0.04, .hinge = true, .removal = true}).ratio, 1.4);
  EXPECT_GT(worst_excess({.ratio = 1.75, .mu = 0.04, .hinge = true, .removal = true}).ratio, 8);
  EXPECT_LE(worst_excess({.ratio = 0.75, .mu = 0.04}).ratio, 1.002) << "the same sums for the loss of the theorem";
  EXPECT_LE(worst_excess({.ratio = 1.75, .mu = 0.04, .removal = true}).ratio, 1.002);
}

TEST(BrokenGaussianTwin, NoiseOfEightTimesTheCurvatureChargedWithoutTheJacobianIsRefuted) {
  EXPECT_GT(worst_excess({.ratio = 8, .mu = 0.04}).ratio, 1.1);
  EXPECT_GT(worst_excess({.ratio = 8, .mu = 0.04, .removal = true}).ratio, 2.5);
}

// What ties the integral to the product: the same δ(ε), counted on the releases of PeerNode::step. With 10^6 runs a
// world the count alone refutes the twin.
TEST(GaussianProfile, AgreesWithWhatTheProductReleases) {
  const Scene scene = bent_scene({.ratio = 1.75, .mu = 1, .hinge = true, .tilt = 0.05, .depth = 800}, 1.25);
  const double epsilon = 1.6, exact = exact_profile(scene).delta(epsilon), claim = privacy::gdp_delta(1, epsilon);
  const long n = is_full() ? 1000000 : is_short() ? 2000 : 60000;
  std::array<std::vector<double>, 2> ratios;
  for (const int world : {0, 1}) {
    Random random = Random::seeded(4, 1, static_cast<std::uint64_t>(world), "audit");
    const Mechanism mechanism = product(scene);
    for (long i = 0; i < n; ++i)
      ratios[static_cast<std::size_t>(world)].push_back(weigh(scene, mechanism(world, random)).log_ratio);
  }
  const double least = delta_lower_bound(epsilon, epsilon, ratios[0], ratios[1], 1e-3);
  const auto share = [&](int world) {
    const auto& all = ratios[static_cast<std::size_t>(world)];
    return static_cast<double>(std::ranges::count_if(all, [=](double r) { return r >= epsilon; })) /
           static_cast<double>(n);
  };
  const double p = share(0), q = share(1), e = std::exp(epsilon), counted = p - e * q;
  const double error = std::sqrt((p * (1 - p) + e * e * q * (1 - q)) / static_cast<double>(n));
  std::printf("  delta(%.1f): integral %.5f, counted %.5f +- %.5f, at least %.5f; claimed %.5f\n", epsilon, exact,
              counted, error, least, claim);
  EXPECT_NEAR(counted, exact, 4 * error);
  EXPECT_GT(exact, 1.05 * claim);
  if (is_full()) {
    EXPECT_GT(least, claim);
  }
}

}  // namespace
}  // namespace parley::audit
