// Deliberately broken twins of dp-admm, linear-admm and star-pvp. Each claims what the product would claim, and the
// audit must refute it. The faults live here; the product has no switch for any of them.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "cell.h"
#include "parley/algorithm/peer_node.h"
#include "parley/algorithm/star_node.h"
#include "parley/audit/linear.h"

namespace parley::audit {
namespace {

using algorithm::PrivateRound;
using algorithm::Schedule;
using privacy::Random;

long linear_runs() {
  return is_full() ? 100000 : is_short() ? 3000 : 6000;
}

// Sets all noise to `share` of what was priced.
void scale_noise(PrivateRound& r, double share) {
  r.gradient_scale *= share;
  r.output_scale *= share;
  r.gradient_rate /= share;
  r.output_rate /= share;
}
auto noise_times(double share) {
  return [share](Schedule& s) {
    for (PrivateRound& r : s.private_rounds) scale_noise(r, share);
  };
}

enum class Seen { in_every_check, pointwise };  // pointwise: pure noise in six dimensions is beyond check B

// Gaussian and gamma noise. Check A is made by an attacker who knows what the twin really does.
template <typename Tamper>
void expect_linear_refuted(const std::string& twin, LinearOptions options, Tamper tamper,
                           Seen seen = Seen::in_every_check) {
  for (const double mu : is_full() ? std::vector<double>{1, 2, 5} : std::vector<double>{1}) {
    options.claim = mu;
    const Scene scene = make_linear_scene(options);
    expect_gaussian_refuted(twin, scene, tampered(scene, tamper), mu, linear_runs());
  }
  options.noise = "gamma";
  for (const double epsilon : is_full() ? std::vector<double>{1, 2, 3, 5} : std::vector<double>{1, 3}) {
    options.claim = epsilon;
    const Scene scene = make_linear_scene(options);
    if (seen == Seen::in_every_check) expect_refuted(twin, scene, tampered(scene, tamper), epsilon, linear_runs());
    Scene broken = scene;
    tamper(broken.schedule);
    const Verdict v = examine(broken, product(broken), 1000, 5);
    EXPECT_FALSE(v.ratio_holds()) << twin << ": largest ratio " << v.largest_ratio << ", claim " << v.claim;
    EXPECT_TRUE(examine(scene, product(scene), 1000, 6).passes()) << "the same scene without the fault";
  }
}

TEST(BrokenLinearTwin, HalvedNoiseIsRefuted) {
  expect_linear_refuted("noise halved, linear-admm", {.algorithm = "linear-admm"}, noise_times(0.5));
  expect_linear_refuted("noise halved, dp-admm", {.loss = "hinge", .norm = 0}, noise_times(0.5));
  expect_linear_refuted("noise halved, linear-admm at-point", {.algorithm = "linear-admm", .at_point = true, .norm = 5},
                        noise_times(0.5));
}

TEST(BrokenLinearTwin, ASensitivityOfStarPvpWithoutItsFactorTwoIsRefuted) {
  expect_linear_refuted("star-pvp, G/(m kappa)", {.algorithm = "star-pvp"}, noise_times(0.5));
}

// Noise of scale σ on the result is noise of scale Qσ on the gradient: too little where Q < 1, and the other way round.
TEST(BrokenLinearTwin, NoiseOnTheResultWithTheScaleMeantForTheGradientIsRefuted) {
  const auto on_result = [](Schedule& s) {
    for (PrivateRound& r : s.private_rounds) scale_noise(r, r.divisor);
  };
  const auto on_gradient = [](Schedule& s) {
    for (PrivateRound& r : s.private_rounds) scale_noise(r, 1 / r.divisor);
  };
  expect_linear_refuted("gradient's scale on the result", {.algorithm = "linear-admm", .divisor = 0.5}, on_result);
  expect_linear_refuted("result's scale on the gradient", {.algorithm = "linear-admm", .divisor = 2}, on_gradient);
}

TEST(BrokenLinearTwin, AHingeWithTheLogisticDiameterAtAPointIsRefuted) {
  const auto at_point = [](Schedule& s) {  // the product itself refuses: private_update.h, noise_share
    noise_times((s.weight * steepest(1e-6).diameter + 2 * s.tolerance) / (2 * s.weight + 2 * s.tolerance))(s);
  };
  for (const std::string loss : {"hinge", "huber-hinge"})
    expect_linear_refuted(loss + ", logistic diameter", {.algorithm = "linear-admm", .loss = loss, .norm = 1e-6},
                          at_point);
}

TEST(BrokenLinearTwin, TheDiameterAtZeroTakenElsewhereIsRefuted) {
  expect_linear_refuted("Diam(0) at norm 10", {.algorithm = "linear-admm", .at_point = true, .norm = 10},
                        [](Schedule& s) {
                          s.diameter_at_point = false;
                          noise_times(0.5)(s);
                        });
}

TEST(BrokenLinearTwin, SoftmaxChargedWithAGradientBoundOfOneIsRefuted) {
  for (const std::string name : {"linear-admm", "star-pvp"})
    expect_linear_refuted("softmax with G = 1, " + name, {.algorithm = name, .loss = "softmax"},
                          noise_times(1 / std::numbers::sqrt2), Seen::pointwise);
}

TEST(BrokenLinearTwin, ALastRoundWithHardlyAnyNoiseIsRefuted) {
  for (const std::string name : {"dp-admm", "star-pvp"})
    expect_linear_refuted("last round clean, " + name, {.algorithm = name, .rounds = 3},
                          [](Schedule& s) { scale_noise(s.private_rounds.back(), 1e-9); });
}

// Two gradients of different length at the two points: the difference of the releases is free of noise and tells them.
template <typename Node>
void expect_reuse_refuted(const std::string& name, double claim, const std::string& noise) {
  Scene scene =
      make_linear_scene({.algorithm = name, .noise = noise, .rounds = 2, .claim = claim, .norm = 40, .divisor = 50});
  scene.points.push_back(name == "dp-admm" ? scene.points[0] : Vector(-scene.points[0]));  // dp-admm comes from 0
  const Mechanism reused = [&scene](int world, Random& random) {
    SameNoise<Node> node(scene.problem(world), scene.schedule, random.bits());
    return play(scene, node, random);
  };
  const std::string twin = "noise reused, " + name;
  if (noise == "gaussian")
    expect_gaussian_refuted(twin, scene, reused, claim, linear_runs() / 2);
  else
    expect_refuted(twin, scene, reused, claim, linear_runs() / 2);
}

TEST(BrokenLinearTwin, TheSameNoiseInTwoRoundsIsRefuted) {
  for (const std::string noise : {"gaussian", "gamma"}) {
    expect_reuse_refuted<algorithm::ProviderNode>("dp-admm", 1, noise);
    expect_reuse_refuted<algorithm::PeerNode>("linear-admm", 1, noise);
    expect_reuse_refuted<algorithm::ProviderNode>("star-pvp", 1, noise);
  }
}

// HHCG20 Algorithm 3, line 6, misread: γ moves by the noiseless w, and the provider sends it as printed. (Were γ kept
// at home, the next release alone would not betray it beyond the claim: γ is then an average of the gradients so far,
// so that γ − g is no further from that of the other world than two gradients are, and it leaves under fresh noise.)
TEST(BrokenLinearTwin, ADualUpdatedWithTheUnnoisedIterateAndSentAlongIsRefuted) {
  for (const std::string name : {"dp-admm", "star-pvp"})
    for (const std::string noise : {"gaussian", "gamma"}) {
      const Scene scene = make_linear_scene({.algorithm = name, .noise = noise, .rounds = 2});
      Schedule silent = scene.schedule;
      silent.noise = algorithm::Noise::none;
      for (PrivateRound& r : silent.private_rounds)
        r.gradient_scale = r.output_scale = r.gradient_rate = r.output_rate = 0;
      const Mechanism leaky = [&scene, silent](int world, Random& random) {
        Transcript transcript = product(scene)(world, random);
        algorithm::ProviderNode node(scene.problem(world), silent);
        node.commit({}, scene.start);
        const Vector w = node.step({std::make_shared<const Vector>(transcript[0].received)}, random).value;
        transcript[1].dual = -silent.private_rounds[0].penalty * (w - transcript[1].received);
        return transcript;
      };
      if (noise == "gaussian")
        expect_gaussian_refuted("un-noised dual sent, " + name, scene, leaky, 1, linear_runs() / 2);
      else
        expect_refuted("un-noised dual sent, " + name, scene, leaky, 1, linear_runs() / 2);
    }
}

}  // namespace
}  // namespace parley::audit
