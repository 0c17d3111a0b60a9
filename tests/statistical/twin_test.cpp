// Deliberately broken twins of the product. Each claims what the product would claim, and the audit must refute it, or
// the audit is worth nothing. The faults live here, as nodes and transcripts of the test; the product has no switch for
// any of them.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cell.h"
#include "parley/algorithm/peer_node.h"
#include "parley/algorithm/private_update.h"
#include "parley/audit/one_round.h"
#include "parley/privacy/pure.h"
#include "parley/problem/solve.h"

namespace parley::audit {
namespace {

using algorithm::PrivateRound;
using privacy::Random;

long runs() {
  return is_full() ? 100000 : is_short() ? 5000 : 20000;
}

std::vector<double> twin_claims() {
  return is_full() ? std::vector<double>{1, 2, 3, 5} : is_short() ? std::vector<double>{1} : std::vector<double>{1, 3};
}

void expect_refuted(const std::string& twin, const Scene& scene, const Mechanism& mechanism, double epsilon) {
  audit::expect_refuted(twin, scene, mechanism, epsilon, runs());
}

TEST(BrokenTwin, HalvedNoiseIsRefuted) {
  for (const std::string name : {"dvp", "pvp"})
    for (const double epsilon : twin_claims()) {
      SceneOptions o = with(name);
      o.epsilon = epsilon;
      const Scene scene = make_scene(o);
      const auto halve = [](algorithm::Schedule& s) {
        for (PrivateRound& r : s.private_rounds) {
          r.objective_rate *= 2;
          r.output_rate *= 2;
        }
      };
      expect_refuted("noise halved, " + name, scene, tampered(scene, halve), epsilon);
    }
}

TEST(BrokenTwin, ALastRoundWithoutNoiseIsRefuted) {
  for (const double epsilon : twin_claims()) {
    SceneOptions o = with("dvp", 3);
    o.epsilon = epsilon;
    const Scene scene = make_scene(o);
    expect_refuted("last round clean", scene,
                   tampered(scene, [](algorithm::Schedule& s) { s.private_rounds.back().objective_rate = 0; }),
                   epsilon);
  }
}

TEST(BrokenTwin, ARowOfNormTwoIsRefuted) {
  for (const double epsilon : twin_claims()) {
    SceneOptions o = with("dvp");
    o.epsilon = epsilon;
    o.row_norm = 2;
    const Scene scene = make_scene(o);
    expect_refuted("row of norm 2", scene, product(scene), epsilon);
    EXPECT_FALSE(examine(scene, product(scene), 1000, 5).ratio_holds());
  }
}

// A node that draws its own noise: the rest of the round is the product's.
class TwinNode : public algorithm::PeerNode {
 public:
  using Draw = std::function<Vector(Index dimension, double rate, Random& random)>;
  TwinNode(problem::Problem problem, algorithm::Schedule schedule, Draw draw)
      : PeerNode(problem, schedule), problem_(problem), schedule_(std::move(schedule)), draw_(std::move(draw)) {}

  privacy::Release step(const privacy::Inbox& inbox, Random& random) const override {
    const int round = state().round + 1;
    algorithm::State s = state();
    if (schedule_.touches_data(s.round))
      s.dual = algorithm::dual_update(s, inbox, schedule_.private_round(s.round).dual_step);
    const PrivateRound& now = schedule_.private_round(round);
    const Vector b = draw_(s.f.size(), now.objective_rate, random);
    auto terms = algorithm::primal_terms(s, inbox, now.penalty);
    terms.linear += b;
    const auto solution = problem::argmin(problem_, terms, s.f, {.tolerance = schedule_.tolerance});
    return {.node = 0,
            .round = round,
            .value = algorithm::snap(solution.f, schedule_.release_bound, now.grid),
            .charge = now.charge};
  }

 private:
  problem::Problem problem_;
  algorithm::Schedule schedule_;
  Draw draw_;
};

// Norm from Gamma(shape, 1/rate), uniform direction.
Vector shaped(Index dimension, int shape, double rate, Random& random) {
  double norm = 0;
  for (int k = 0; k < shape; ++k) norm += random.exponential();
  const Vector direction = privacy::gaussian_vector(dimension, 1, random);
  return direction * (norm / (rate * direction.norm()));
}

TEST(BrokenTwin, AGammaShapeOfOneTooFewIsRefuted) {
  for (const double epsilon : twin_claims()) {
    SceneOptions o = with("dvp");
    o.epsilon = epsilon;
    const Scene scene = make_scene(o);
    const auto with_shape = [&scene](int shape) -> Mechanism {
      return [&scene, shape](int world, Random& random) {
        TwinNode node(scene.problem(world), scene.schedule,
                      [shape](Index d, double rate, Random& r) { return shaped(d, shape, rate, r); });
        return play(scene, node, random);
      };
    };
    expect_refuted("Gamma shape d - 1", scene, with_shape(1), epsilon);
    EXPECT_TRUE(examine(scene, with_shape(2), runs(), 78).passes()) << "the twin's frame itself is sound";
  }
}

TEST(BrokenTwin, ReleasingARoundAgainWithFreshNoiseButOneChargeIsRefuted) {
  for (const double epsilon : twin_claims()) {
    SceneOptions o = with("dvp");
    o.epsilon = epsilon;
    const Scene scene = make_scene(o);
    const Mechanism twice = [&scene](int world, Random& random) {
      algorithm::PeerNode first(scene.problem(world), scene.schedule), retry(scene.problem(world), scene.schedule);
      Transcript transcript = play(scene, first, random);
      Transcript again = play(scene, retry, random);
      again[0].epsilon = 0;  // "it is the same round"
      transcript.push_back(again[0]);
      return transcript;
    };
    expect_refuted("re-release, charged once", scene, twice, epsilon);
    EXPECT_FALSE(examine(scene, twice, runs(), 5).ratio_holds());
  }
}

// The attacker moves the node to the other side of both records, so that their gradients vanish in one of two rounds.
Scene reuse_scene(double epsilon, long rounds) {
  SceneOptions o = with("dvp", rounds);
  o.epsilon = epsilon;
  Scene scene = make_scene(o);
  scene.neighbour = {Vector{{0, -20}}, Vector{{0, 60}}};
  return scene;
}

TEST(BrokenTwin, TheSameNoiseInTwoRoundsIsRefuted) {
  for (const double epsilon : twin_claims()) {
    const Scene scene = reuse_scene(epsilon, 2);
    const Mechanism reused = [&scene](int world, Random& random) {
      Vector kept;
      TwinNode node(scene.problem(world), scene.schedule, [&kept](Index d, double rate, Random& r) {
        if (kept.size() == 0) kept = privacy::gamma_norm_vector(d, rate, r);
        return kept;
      });
      return play(scene, node, random);
    };
    expect_refuted("noise reused in the next round", scene, reused, epsilon);
    EXPECT_TRUE(examine(scene, product(scene), runs(), 79).passes()) << "fresh noise in the same scene is sound";
  }
}

TEST(BrokenTwin, ARetryWithTheSameNoiseOnOtherInputIsRefuted) {  // promises.md, F2
  for (const double epsilon : twin_claims()) {
    const Scene scene = reuse_scene(epsilon, 1);
    const Mechanism retried = [&scene](int world, Random& random) {
      const std::uint64_t seed = random.bits();  // the stream of this node and round, used twice
      Transcript transcript;
      for (const int input : {0, 1}) {
        algorithm::PeerNode node(scene.problem(world), scene.schedule);
        node.commit({}, scene.start);
        Random same = Random::seeded(seed, 0, 1, "noise");
        const Vector& received = scene.neighbour_at(input);
        const privacy::Release release = node.step({std::make_shared<const Vector>(received)}, same);
        transcript.push_back({.round = 1,
                              .received = received,
                              .value = release.value,
                              .epsilon = input == 0 ? release.charge.epsilon : 0});
      }
      return transcript;
    };
    expect_refuted("same noise, other input", scene, retried, epsilon);
  }
}

// ZKL20 Algorithm 3 to the letter: the even step uses the stored ∇O at the minimum, not the gradient that the released
// value implies.
class StoredGradientNode : public algorithm::PeerNode {
 public:
  StoredGradientNode(problem::Problem problem, const algorithm::Schedule& schedule)
      : PeerNode(problem, schedule), problem_(problem), schedule_(schedule) {}

  privacy::Release step(const privacy::Inbox& inbox, Random& random) const override {
    algorithm::State s = state();
    const int round = s.round + 1;
    const PrivateRound& now = schedule_.private_round(round);
    if (schedule_.touches_data(round)) {
      if (schedule_.touches_data(s.round))
        s.dual = algorithm::dual_update(s, inbox, schedule_.private_round(s.round).dual_step);
      const auto terms = algorithm::primal_terms(s, inbox, now.penalty);
      stored_ =
          problem::gradient(problem_, problem::argmin(problem_, terms, s.f, {.tolerance = schedule_.tolerance}).f);
      return PeerNode::step(inbox, random);
    }
    s.dual = algorithm::dual_update(s, inbox, now.dual_step);
    s.gradient = stored_;
    return {.node = 0,
            .round = round,
            .value = algorithm::snap(algorithm::recycled_step(s, inbox, now.penalty, now.damping),
                                     schedule_.release_bound, now.grid)};
  }

 private:
  problem::Problem problem_;
  algorithm::Schedule schedule_;
  mutable Vector stored_;
};

TEST(BrokenTwin, ARecycledStepFromTheStoredGradientUnderOutputNoiseIsRefuted) {
  for (const double epsilon : twin_claims()) {
    SceneOptions o = with("mr-admm", 2);
    o.algorithm.noise_on = "output";
    o.epsilon = epsilon;
    const Scene scene = make_scene(o);
    const Mechanism stored = [&scene](int world, Random& random) {
      StoredGradientNode node(scene.problem(world), scene.schedule);
      return play(scene, node, random);
    };
    expect_refuted("stored gradient recycled", scene, stored, epsilon);
    EXPECT_FALSE(examine(scene, stored, 1000, 5).recycling_holds());
  }
}

// peers.md defect 1: the iterate is noised, the dual that leaves beside it was updated with the exact one.
TEST(BrokenTwin, ADualUpdatedWithTheUnnoisedIterateAndSentAlongIsRefuted) {
  for (const double epsilon : twin_claims()) {
    SceneOptions o = with("pvp", 2);
    o.epsilon = epsilon;
    const Scene scene = make_scene(o);
    const Mechanism leaky = [&scene](int world, Random& random) {
      algorithm::PeerNode node(scene.problem(world), scene.schedule);
      Transcript transcript = play(scene, node, random);
      const PrivateRound& first = scene.schedule.private_rounds[0];
      algorithm::State before{.round = 0, .f = scene.start, .dual = Vector::Zero(2)};
      const privacy::Inbox inbox{std::make_shared<const Vector>(scene.neighbour_at(0))};
      const auto terms = algorithm::primal_terms(before, inbox, first.penalty);
      before.f = problem::argmin(scene.problem(world), terms, scene.start, {.tolerance = scene.schedule.tolerance}).f;
      const privacy::Inbox next{std::make_shared<const Vector>(scene.neighbour_at(1))};
      transcript[1].dual = algorithm::dual_update(before, next, first.dual_step);
      return transcript;
    };
    expect_refuted("un-noised dual sent along", scene, leaky, epsilon);
  }
}

// accounting.md §b: the logistic loss has L'' = |L'|(1 − |L'|), which A2 uses. Another loss charged by A2 is
// undercharged.
TEST(BrokenTwin, TheHuberHingeChargedLikeTheLogisticLossIsRefuted) {
  SceneOptions o = with("dvp");
  o.algorithm.loss = "huber-hinge";
  o.algorithm.penalty = {0.25};
  o.algorithm.regularization = 1e-6;
  o.epsilon = 1.2;
  Scene scene = make_scene(o);
  const PrivateRound& round = scene.schedule.private_rounds[0];
  const double charged_as_logistic = privacy::objective_epsilon(
      {.gradient_weight = scene.schedule.weight, .strong_convexity = round.strong_convexity, .logistic = true},
      round.objective_rate);
  EXPECT_LT(charged_as_logistic, 0.999 * scene.schedule.epsilon);
  const double largest = largest_ratio_on_a_grid(scene);
  std::printf("  huber-hinge: largest ratio %.4f, charged as logistic %.4f, charged by A1 %.4f\n", largest,
              charged_as_logistic, scene.schedule.epsilon);
  EXPECT_LE(largest, scene.schedule.epsilon);
  EXPECT_GT(largest, charged_as_logistic);
}

}  // namespace
}  // namespace parley::audit
