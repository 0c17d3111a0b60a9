// The audit of newton and dp-gd (docs/check/newton.md, theorem N1), the law of their noise, and broken twins: each claims what
// the product would claim, and the audit must refute it. The faults live here; the product has no switch for any of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "cell.h"
#include "checks.h"
#include "parley/algorithm/newton/newton_node.h"
#include "parley/audit/linear.h"
#include "parley/audit/sums.h"

namespace parley::audit {
namespace {

using algorithm::PrivateRound;
using algorithm::Schedule;
using privacy::Random;

long sums_runs() {
  return is_full() ? 100000 : is_short() ? 3000 : 8000;
}

struct SumsCell {
  std::string name;
  SumsOptions options;
  double reach = 0.9;  // of the claim, by the estimate
};

TEST(SumsAudit, NewtonAndGradientDescentKeepTheirClaims) {
  const std::vector<SumsCell> cells = {
      {"newton, gradients", {}},
      {"newton, curvature", {.pair = Pair::across, .curvature_share = 0.99}},
      {"newton, curvature off the diagonal", {.pair = Pair::slanted, .curvature_share = 0.99}},
      {"newton, half and half", {.pair = Pair::across, .curvature_share = 0.5}, 0.7},  // no pair is worst in both
      {"newton, not cut, far out", {.clip = 1, .rounds = 3, .norm = 40}, 0.7},         // round 1 is at 0
      {"newton, not cut, at-point", {.clip = 1, .at_point = true, .rounds = 3, .norm = 5}, 0.85},
      {"newton, 5 rounds", {.rounds = 5}},
      {"newton, 10 records", {.rounds = 2, .records = 10}},
      {"dp-gd, 3 rounds", {.algorithm = "dp-gd", .rounds = 3}},
      {"newton, diagonal curvature", {.diagonal = true, .pair = Pair::across, .curvature_share = 0.99}},
      {"newton, huber-hinge", {.loss = "huber-hinge", .clip = 1}},
      {"newton, huber", {.loss = "huber", .clip = 1}},
      {"newton, softmax, far out", {.loss = "softmax", .rounds = 5, .norm = 40}, 0.85},  // round 1 is at 0
      {"newton, softmax, curvature", {.loss = "softmax", .pair = Pair::across, .curvature_share = 0.99}},
      {"newton, squared, labels", {.loss = "squared"}},
      {"newton, squared, moments", {.loss = "squared", .pair = Pair::across, .curvature_share = 0.99}},
      {"dp-gd, huber-hinge", {.algorithm = "dp-gd", .loss = "huber-hinge", .clip = 1, .rounds = 2}},
  };
  std::uint64_t seed = 9000;
  for (const SumsCell& cell : cells)
    for (const double mu : is_full() ? mus() : std::vector<double>{0.5, 2}) {
      SumsOptions o = cell.options;
      o.claim = mu;
      expect_gaussian_to_hold(cell.name, make_sums_scene(o), mu, sums_runs(), seed += 10,
                              {.ratio = (mu < 0.5 ? 0.7 : 1) * cell.reach, .bound = mu < 1 ? 0 : 0.5 * cell.reach});
    }
}

// ---- the law of the noise ----

TEST(SumsNoise, IsGaussianOfThePlannedScalesAndAOnePercentErrorWouldBeSeen) {
  data::Rows nothing;
  nothing.features = 3;
  nothing.append({}, {}, 1);
  algorithm::Options o;
  o.algorithm = "newton";
  o.rounds = 1;
  o.noise_scale = {1.7};
  const Schedule s = algorithm::make_plan(o, {.degree = {1, 1}, .records = {1, 1}, .features = 3}).nodes[0];
  algorithm::newton::NewtonNode node({.rows = &nothing, .loss = s.loss, .weight = 1}, s);
  node.commit({}, Vector::Zero(3));
  Random random = Random::seeded(22, 0, 0, "sampler test");
  std::vector<double> curvature, gradient, all;
  for (std::size_t i = 0; i < (is_short() ? 3000 : 100000); ++i) {
    const Vector noise = node.step({std::make_shared<const Vector>(Vector::Zero(3))}, random).value * s.sums->unit;
    for (Index j = 0; j < 6; ++j) curvature.push_back(noise[j] / s.private_rounds[0].curvature_scale);
    for (Index j = 6; j < 9; ++j) gradient.push_back(noise[j] / 1.7);
    all.insert(all.end(), curvature.end() - 6, curvature.end());
    all.insert(all.end(), gradient.end() - 3, gradient.end());
  }
  EXPECT_TRUE(all_accepted(check_independent(all, 9)));  // also between curvature and gradient
  for (std::vector<double>* sample : {&curvature, &gradient}) {
    EXPECT_TRUE(all_accepted(check_normal(*sample)));
    EXPECT_TRUE(all_accepted(check_independent(*sample, sample == &curvature ? 6 : 3)));
    for (const double error : {1 + small_error(), 1 - small_error()}) {
      std::vector<double> scaled = *sample;
      for (double& x : scaled) x *= error;
      EXPECT_TRUE(is_rejected(check_normal(scaled))) << error;
    }
  }
}

// ---- broken twins ----

template <typename Tamper>
void expect_sums_refuted(const std::string& twin, SumsOptions options, Tamper tamper) {
  for (const double mu : is_full() ? std::vector<double>{0.5, 1, 2} : std::vector<double>{1}) {
    options.claim = mu;
    const Scene scene = make_sums_scene(options);
    expect_gaussian_refuted(twin, scene, tampered(scene, tamper), mu, sums_runs());
  }
}

TEST(BrokenSumsTwin, HalvedNoiseIsRefuted) {
  const auto halve = [](Schedule& s) {
    for (PrivateRound& r : s.private_rounds) r.gradient_scale /= 2, r.curvature_scale /= 2;
  };
  expect_sums_refuted("noise halved, newton", {}, halve);
  expect_sums_refuted("noise halved, dp-gd", {.algorithm = "dp-gd"}, halve);
}

TEST(BrokenSumsTwin, ACurvatureOfSensitivityOneIsRefuted) {
  const auto as_one = [](Schedule& s) { s.private_rounds.front().curvature_scale /= std::numbers::sqrt2; };
  for (const Pair pair : {Pair::across, Pair::slanted})
    expect_sums_refuted("curvature with sensitivity 1", {.pair = pair, .curvature_share = 0.99}, as_one);
}

// Noise of half the size on the entries off the diagonal, which stand twice in the matrix.
TEST(BrokenSumsTwin, TooLittleNoiseOffTheDiagonalIsRefuted) {
  const Scene scene = make_sums_scene({.pair = Pair::slanted, .curvature_share = 0.99});
  const Mechanism less = [&scene](int world, Random& random) {
    Transcript transcript = product(scene)(world, random);
    const double bare = bare_sums(scene, world, Vector::Zero(2), true)[1] / scene.schedule.sums->unit;
    transcript[0].value[1] = bare + (transcript[0].value[1] - bare) / 2;
    transcript.resize(1);
    return transcript;
  };
  expect_gaussian_refuted("off-diagonal entries with half the noise", scene, less, 1, sums_runs());
}

TEST(BrokenSumsTwin, AGradientThatIsNotCutAndChargedAsCutIsRefuted) {
  expect_sums_refuted("not cut", {.rounds = 3, .norm = 40}, [](Schedule& s) { s.sums->clip = 1; });
}

// The sum of B rows is cut at B·G instead of each row at G: one row moves it by more than 2G.
TEST(BrokenSumsTwin, CuttingAfterSummingIsRefuted) {
  const Scene scene = make_sums_scene({.algorithm = "dp-gd", .clip = 0.25, .records = 2});
  Scene uncut = scene;
  uncut.schedule.sums->clip = 1;
  const Mechanism cut_sum = [&scene, uncut](int world, Random& random) {
    Transcript transcript = product(scene)(world, random);
    const Vector zero = Vector::Zero(2), cut = bare_sums(scene, world, zero, false);
    Vector sum = bare_sums(uncut, world, zero, false);
    sum *= std::min(1.0, 0.5 / sum.norm());
    transcript[0].value += (sum - cut) / scene.schedule.sums->unit;
    transcript.resize(1);
    return transcript;
  };
  expect_gaussian_refuted("cut after summing", scene, cut_sum, 1, sums_runs());
}

// G is the largest slope that the rows have: then the noise tells it.
TEST(BrokenSumsTwin, ABoundTakenFromTheRowsIsRefuted) {
  SumsOptions o{.pair = Pair::opposed, .rounds = 2, .norm = 3};
  const Scene scene = make_sums_scene(o);
  const Mechanism looks = [&scene](int world, Random& random) {
    Schedule s = scene.schedule;
    const double largest = world == 0 ? 0.5 : 0.05;  // as if the row of D' were far on the right side
    for (PrivateRound& r : s.private_rounds) r.gradient_scale *= largest / 0.5;
    s.sums->clip = largest;
    algorithm::newton::NewtonNode node(scene.problem(world), s);
    return play(scene, node, random);
  };
  expect_gaussian_refuted("G from the rows", scene, looks, 1, sums_runs());
}

// A number of the gradient has the noise of one of the curvature: in their difference there is none.
TEST(BrokenSumsTwin, TheSameNoiseInCurvatureAndGradientIsRefuted) {
  const Scene scene = make_sums_scene({.curvature_share = 0.5});
  const PrivateRound& now = scene.schedule.private_rounds.front();
  const Mechanism twice = [&scene, &now](int world, Random& random) {
    Transcript transcript = product(scene)(world, random);
    const Vector bare = bare_sums(scene, world, Vector::Zero(2), true) / scene.schedule.sums->unit;
    Vector& value = transcript[0].value;
    value[3] = bare[3] + (value[1] - bare[1]) * now.gradient_scale / now.curvature_scale;
    transcript.resize(1);
    return transcript;
  };
  expect_gaussian_refuted("one noise for two numbers", scene, twice, 1, sums_runs());
}

// Noise for the diameter of logistic gradients at a point, on those of a loss for which none is proved.
TEST(BrokenSumsTwin, ALogisticDiameterForAnotherLossIsRefuted) {
  for (const char* loss : {"huber-hinge", "huber"}) {
    const Scene scene = make_sums_scene({.loss = loss, .clip = 1});
    const double less = loss == std::string("huber") ? 0.5 : steepest(0).diameter / 2;
    expect_gaussian_refuted(std::string("at-point, ") + loss, scene,
                            tampered(scene,
                                     [&](Schedule& s) {
                                       for (PrivateRound& r : s.private_rounds) r.gradient_scale *= less;
                                     }),
                            1, sums_runs());
  }
}

// Two rows' gradients of three classes are up to 2√2 apart: their slopes q − e_y have norm √2 and not 1.
TEST(BrokenSumsTwin, SoftmaxChargedWithAGradientBoundOfOneIsRefuted) {
  expect_sums_refuted("softmax with G = 1", {.loss = "softmax", .rounds = 10, .norm = 40}, [](Schedule& s) {
    for (PrivateRound& r : s.private_rounds) r.gradient_scale /= std::numbers::sqrt2;
  });
}

// A feature's numbers of two classes have one noise: in their difference there is none.
TEST(BrokenSumsTwin, SoftmaxWithTheSameNoiseForTwoClassesIsRefuted) {
  const Scene scene = make_sums_scene({.loss = "softmax", .curvature_share = 0.5});
  const Mechanism same = [&scene](int world, Random& random) {
    Transcript transcript = product(scene)(world, random);
    const Vector bare = bare_sums(scene, world, Vector::Zero(6), true) / scene.schedule.sums->unit;
    Vector& value = transcript[0].value;
    value[5] = bare[5] + value[3] - bare[3];
    transcript.resize(1);
    return transcript;
  };
  expect_gaussian_refuted("softmax, one noise for two classes", scene, same, 1, sums_runs());
}

TEST(BrokenSumsTwin, SquaredLossChargedForHalfTheLabelsBoundIsRefuted) {
  expect_sums_refuted("label sums charged for |y| <= 1/2", {.loss = "squared"},
                      [](Schedule& s) { s.private_rounds.front().gradient_scale /= 2; });
  expect_sums_refuted("its second moments with sensitivity 1",
                      {.loss = "squared", .pair = Pair::across, .curvature_share = 0.99},
                      [](Schedule& s) { s.private_rounds.front().curvature_scale /= std::numbers::sqrt2; });
}

TEST(BrokenSumsTwin, TheSameNoiseInTwoRoundsIsRefuted) {
  Scene scene = make_sums_scene({.algorithm = "dp-gd", .clip = 1, .rounds = 2, .norm = 40});
  const Mechanism reused = [&scene](int world, Random& random) {
    SameNoise<algorithm::newton::NewtonNode> node(scene.problem(world), scene.schedule, random.bits());
    return play(scene, node, random);
  };
  expect_gaussian_refuted("noise reused", scene, reused, 1, sums_runs() / 2);
}

}  // namespace
}  // namespace parley::audit
