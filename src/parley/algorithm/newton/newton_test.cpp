#include "parley/algorithm/newton/newton.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <array>
#include <random>
#include <stdexcept>

#include "parley/algorithm/newton/newton_plan.h"
#include "parley/algorithm/newton/newton_sums.h"
#include "parley/algorithm/nodes.h"
#include "parley/algorithm/planner.h"
#include "parley/base/error.h"
#include "parley/base/message_test.h"
#include "parley/privacy/gaussian.h"
#include "parley/privacy/sums_round.h"
#include "parley/problem/rows_test.h"
#include "parley/problem/solve.h"

namespace parley::algorithm::newton {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr Index features = 6;

// Some parties with rows of their own, led through all rounds without ledger and network.
class Parties {
 public:
  Parties(Options o, const std::vector<int>& sizes, int classes = 2) {
    Setting setting{.degree = std::vector<int>(sizes.size(), 1), .features = features, .classes = classes};
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const auto count = static_cast<std::size_t>(sizes[i]);
      const auto seed = static_cast<unsigned>(i + 1);
      rows_.push_back(classes > 2
                          ? problem::random_class_rows(count, features, 0.8, seed, classes)
                          : problem::random_rows(count, features, 0.8, seed, !algorithm::loss_of(o).classifies()));
      setting.records.push_back(static_cast<double>(sizes[i]));
    }
    plan_ = algorithm::make_plan(o, setting);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      problems_.push_back(problem_of(rows_[i], plan_.nodes[i]));
      nodes_.push_back(make_node(problems_.back(), plan_.nodes[i]));
    }
  }

  void run(std::uint64_t seed = 1) {
    std::vector<privacy::Inbox> inboxes(nodes_.size());
    for (int round = 0; nodes_.front()->has_next(); ++round) {
      std::vector<privacy::Released> values;
      for (std::size_t i = 0; i < nodes_.size(); ++i) {
        auto random = privacy::Random::seeded(seed, i, static_cast<std::uint64_t>(round), "noise");
        const privacy::Release release = nodes_[i]->step(inboxes[i], random);
        charges_.resize(nodes_.size());
        charges_[i].push_back(release.charge);
        values.push_back(std::make_shared<const Vector>(release.value));
      }
      for (std::size_t i = 0; i < nodes_.size(); ++i) nodes_[i]->commit(inboxes[i], *values[i]);
      for (std::size_t i = 0; i < nodes_.size(); ++i) {
        inboxes[i].clear();
        for (std::size_t j = 0; j < nodes_.size(); ++j)
          if (j != i) inboxes[i].push_back(values[j]);
      }
      released_.push_back(values);
    }
  }

  const Vector& model(std::size_t party = 0) const { return *released_.back()[party]; }
  Vector optimum() const { return problem::centralised_optimum(problems_, {.tolerance = 1e-9}).f; }

  std::vector<data::Rows> rows_;
  Plan plan_;
  std::vector<problem::Problem> problems_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<std::vector<privacy::Released>> released_;  // [round][party]
  std::vector<std::vector<privacy::Charge>> charges_;     // [party][round]
};

Options options(const std::string& loss = "logistic") {
  return {.algorithm = "newton", .rounds = 400, .loss = loss, .loss_weight = 1, .regularization = 0.02};
}

TEST(Newton, WithoutNoiseItEndsAtTheCentralisedOptimum) {
  for (const std::string loss : {"logistic", "huber-hinge", "huber"})
    for (const std::string shape : {"full", "diagonal"}) {
      Options o = options(loss);
      o.curvature = shape;
      o.rounds = shape == "full" ? 400 : 3000;
      Parties p(o, {40, 25, 3});
      p.run();
      EXPECT_LT((p.model() - p.optimum()).norm(), 1e-6) << loss << ", " << shape;
      EXPECT_GT(p.optimum().norm(), 0.1);
      for (std::size_t i = 1; i < 3; ++i) EXPECT_EQ(p.model(i), p.model()) << "all have one model";
    }
}

TEST(Newton, SeveralClassesEndAtTheCentralisedOptimum) {
  Parties p(options("softmax"), {60, 30}, 3);
  p.run();
  EXPECT_LT((p.model() - p.optimum()).norm(), 1e-6);
}

// The curvature that bounds the steps follows the largest weight, or a step would overshoot.
TEST(Newton, ClassWeightsMoveTheOptimumAndItIsStillReached) {
  for (const std::string loss : {"logistic", "huber-hinge", "softmax"})
    for (const std::string shape : {"full", "diagonal"}) {
      const int classes = loss == "softmax" ? 3 : 2;
      Options o = options(loss);
      o.curvature = shape;
      o.rounds = shape == "full" ? 1000 : 8000;
      const Parties plain(o, {60, 30}, classes);
      o.class_weight = loss == "softmax" ? "1,8,2" : "8,1";
      Parties p(o, {60, 30}, classes);
      p.run();
      EXPECT_LT((p.model() - p.optimum()).norm(), 1e-6) << loss << ", " << shape;
      EXPECT_GT((p.optimum() - plain.optimum()).norm(), 0.1) << loss;
    }
}

TEST(Newton, AKinkedRegulariserEndsAtTheCentralisedOptimum) {
  for (const std::string regularizer : {"l1", "elastic-net"})
    for (const std::string shape : {"full", "diagonal"}) {
      Options o = options();
      o.regularizer = regularizer;
      o.curvature = shape;
      o.rounds = shape == "full" ? 400 : 3000;
      Parties p(o, {40, 25, 3});
      p.run();
      const Vector best = p.optimum();
      EXPECT_LT((p.model() - best).norm(), 1e-6) << regularizer << ", " << shape;
      for (Index j = 0; j < best.size(); ++j) EXPECT_EQ(p.model()[j] == 0, std::abs(best[j]) < 1e-9) << j;
    }
}

TEST(DpGd, EndsAtTheCentralisedOptimumToo) {
  Options o = options();
  o.algorithm = "dp-gd";
  o.rounds = 3000;
  Parties p(o, {40, 25});
  p.run();
  EXPECT_LT((p.model() - p.optimum()).norm(), 1e-6);
}

// ---- the squared loss: one exchange, and the minimum follows from it ----

Options squared() {
  Options o = options("squared");
  o.rounds = 0;
  return o;
}

TEST(SquaredLoss, WithoutNoiseOneExchangeEndsAtTheCentralisedOptimum) {
  for (const std::string regularizer : {"l2", "l1", "elastic-net"}) {
    Options o = squared();
    o.regularizer = regularizer;
    Parties p(o, {40, 25, 3});
    p.run();
    EXPECT_EQ(p.plan_.nodes[0].sums->rounds, 1);
    const Vector best = p.optimum();
    EXPECT_LT((p.model() - best).norm(), 1e-7) << regularizer;
    EXPECT_GT(best.norm(), 0.1);
    for (Index j = 0; j < best.size(); ++j) EXPECT_EQ(p.model()[j] == 0, std::abs(best[j]) < 1e-9) << j;
  }
}

// (S + 0.1 I)⁻¹ b with S = (0.5, 0.1; 0.1, 0.3), b = (0.2, -0.06), n = 10; and with the eigenvalue 0.2585786 raised to a floor of 0.4
TEST(SquaredLoss, StepsToWhatIsComputedByHand) {
  Terms t{.records = 10, .ridge = 0.1, .c1 = 1, .features = 2, .rounds = 1, .release_bound = 1000, .grid = 0x1p-40};
  Vector total(5);
  total << 5, std::numbers::sqrt2, 3, -2, 0.6;
  const auto model = [&] {
    State s = start(t);
    s.round = 1;
    return after(std::move(s), t, total).model();
  };
  EXPECT_NEAR(model()[0], 0.3739130434782609, 1e-11);
  EXPECT_NEAR(model()[1], -0.2434782608695652, 1e-11);
  t.floor = 0.4;
  EXPECT_NEAR(model()[0], 0.3340772320156147, 1e-11);
  EXPECT_NEAR(model()[1], -0.14730610456830728, 1e-11);
}

// h = 1/5: ((sqrt 2 + 2 e_S)/s)² = mu²/5 and (2(1 + e)/sigma)² = 4 mu²/5
TEST(SquaredLoss, CostsItsBudgetAFifthOfItForTheMoments) {
  for (const bool shared : {false, true}) {
    Options o = squared();
    o.epsilon = {1};
    o.delta = 1e-5;
    if (shared) o.colluders = 1;
    const Plan plan = algorithm::make_plan(o, {.degree = {2, 2, 2}, .records = {400, 250, 300}, .features = 6});
    EXPECT_LE(plan.epsilon(), 1);
    EXPECT_GT(plan.epsilon(), 1 - 1e-6);
    EXPECT_EQ(plan.epsilon_all_others() > 1.2, shared);
    const PrivateRound& r = plan.nodes[0].private_rounds.front();
    const double mu = privacy::gdp_mu(1, 1e-5);
    EXPECT_NEAR(2 / r.gradient_scale, mu * std::sqrt(0.8), 1e-5);
    EXPECT_NEAR(std::numbers::sqrt2 / r.curvature_scale, mu * std::sqrt(0.2), 1e-5);
    EXPECT_EQ(plan.size(0, 1, 6), 21 + 6);
    EXPECT_EQ(plan.size(0, 2, 6), 6) << "the model";
  }
}

TEST(SquaredLoss, NoRowIsReadAtAnyPointButZero) {
  Parties p(squared(), {40, 25});
  const Schedule& s = p.plan_.nodes[0];
  auto random = privacy::Random::seeded(1, 0, 0, "noise");
  const problem::Problem rows{.rows = &p.rows_[0], .loss = s.summed_loss(), .weight = 1};
  EXPECT_NO_THROW(noisy_sums(rows, Vector::Zero(features), s.sums->layout(1), s, s.private_rounds.front(), random));
  EXPECT_THROW(noisy_sums(rows, Vector::Unit(features, 0), s.sums->layout(1), s, s.private_rounds.front(), random),
               std::logic_error);
}

TEST(SquaredLoss, RefusesWhatOneExchangeHasNot) {
  const auto refusal = [](auto change) {
    Options o = squared();
    o.epsilon = {1};
    change(o);
    return message_of([&] { algorithm::make_plan(o, {.degree = {1, 1}, .records = {40, 25}, .features = 6}); });
  };
  EXPECT_THAT(refusal([](Options& o) { o.rounds = 4; }), HasSubstr("one exchange"));
  EXPECT_THAT(refusal([](Options& o) { o.clip = 0.5; }), HasSubstr("option --clip"));
  EXPECT_THAT(refusal([](Options& o) { o.curvature = "diagonal"; }), HasSubstr("all second moments"));
  EXPECT_THAT(refusal([](Options& o) { o.algorithm = "dp-gd"; }), HasSubstr("at 0 alone"));
  EXPECT_THAT(refusal([](Options& o) { o.algorithm = "mr-admm"; }), HasSubstr("use --loss huber"));
  EXPECT_EQ(select_algorithm({.algorithm = "auto", .loss = "squared"}, false, {}).algorithm, "newton");
}

TEST(Newton, OneExchangeIsOneStepFromZero) {
  Options o = options("huber");
  o.rounds = 1;
  o.loss_width = 2;  // no residual of a target in [−1, 1] is beyond it at zero: least squares
  Parties p(o, {40, 25});
  p.run();
  Matrix s = Matrix::Zero(features, features);
  Vector xy = Vector::Zero(features);
  for (const data::Rows& rows : p.rows_)
    for (std::size_t n = 0; n < rows.count(); ++n) {
      Vector x = Vector::Zero(features);
      for (std::size_t k = rows.start[n]; k < rows.start[n + 1]; ++k) x[rows.column[k]] = rows.value[k];
      s += x * x.transpose() / 65;
      xy += rows.label[n] * x / 65;
    }
  const double ridge = p.plan_.nodes[0].sums->ridge;
  EXPECT_LT((p.model() - Matrix(s + ridge * Matrix::Identity(features, features)).ldlt().solve(xy)).norm(), 1e-9);
}

TEST(Newton, PackedNumbersHaveTheFrobeniusNorm) {
  std::mt19937 draw(3);
  Matrix a = Matrix::Zero(5, 5);
  for (Index j = 0; j < 5; ++j)
    for (Index i = j; i < 5; ++i) a(i, j) = a(j, i) = problem::random_vector(1, 1, draw)[0];
  EXPECT_NEAR(packed(a).norm(), a.norm(), 1e-14);
  EXPECT_LT((unpacked(packed(a), 5) - a).norm(), 1e-14);
}

// Theorem N1: one row moves what is released, before the noise, by no more than the plan says.
TEST(Newton, OneRowMovesTheSumsByNoMoreThanTheirSensitivity) {
  std::mt19937 draw(5);
  double most_curvature = 0, most_gradient = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    Options o = options();
    o.noise = "none";
    o.clip = 0.5;
    Setting setting{.degree = {1, 1}, .records = {1, 1}, .features = 2};
    const Plan plan = algorithm::make_plan(o, setting);
    const Vector f = problem::random_vector(2, 3, draw);
    std::array<Vector, 2> sums;
    for (Vector& of : sums) {
      data::Rows rows;
      rows.features = 2;
      const Vector x = problem::random_vector(2, 1, draw).normalized() * (1 - 1e-12);
      const std::array<std::int32_t, 2> columns = {0, 1};
      const std::array<double, 2> values = {x[0], x[1]};
      rows.append(columns, values, draw() % 2 == 0 ? 1.0 : -1.0);
      const problem::Problem p{.rows = &rows, .loss = plan.nodes[0].summed_loss(), .weight = 1};
      auto random = privacy::Random::seeded(1, 1, 1, "test");
      of = noisy_sums(p, f, plan.nodes[0].sums->layout(1), plan.nodes[0], plan.nodes[0].private_rounds[0], random) *
           plan.nodes[0].sums->unit;
    }
    const Vector moved = sums[0] - sums[1];
    most_curvature = std::max(most_curvature, moved.head(3).norm());
    most_gradient = std::max(most_gradient, moved.tail(2).norm());
  }
  EXPECT_LE(most_curvature, std::sqrt(2) + 1e-9);
  EXPECT_GT(most_curvature, 1.4) << "and comes near it";
  EXPECT_LE(most_gradient, 1 + 1e-9);
  EXPECT_GT(most_gradient, 0.98);
}

TEST(Newton, SlopesAreCutRowByRow) {
  data::Rows rows;
  rows.features = 1;
  const std::array<std::int32_t, 1> column = {0};
  for (const double y : {1.0, 1.0, -1.0}) {
    const std::array<double, 1> x = {0.9};
    rows.append(column, x, y);
  }
  problem::Problem p{.rows = &rows, .loss = {.cap = 0.3}, .weight = 1};
  const Vector f = Vector::Constant(1, 0.5);  // slopes −0.389, −0.389, 0.611 without the cut
  EXPECT_NEAR(problem::loss_gradient(p, f)[0], 0.9 * (-0.3 - 0.3 + 0.3), 1e-15);
  EXPECT_EQ(p.loss.gradient_bound(), 0.3);
}

TEST(Newton, AnotherSizeIsNeverUsed) {
  Options o = options();
  o.epsilon = {1};
  Parties p(o, {40, 25});
  auto random = privacy::Random::seeded(1, 1, 1, "test");
  Node& node = *p.nodes_[0];
  node.commit({}, node.step({}, random).value);
  const auto inbox = [](Index size) { return privacy::Inbox{std::make_shared<const Vector>(Vector::Zero(size))}; };
  const Vector sums = node.step(inbox(features), random).value;
  EXPECT_EQ(sums.size(), features + features * (features + 1) / 2);
  node.commit(inbox(features), sums);
  for (const Index wrong : {Index{0}, features, sums.size() - 1, sums.size() + 1}) {
    EXPECT_THROW(node.step(inbox(wrong), random), std::logic_error) << wrong;
    EXPECT_THROW(node.commit(inbox(wrong), Vector::Zero(features)), std::logic_error) << wrong;
  }
  EXPECT_THROW(node.step({}, random), std::logic_error);
  EXPECT_EQ(node.step(inbox(sums.size()), random).value.size(), features);
}

// ---- price ----

TEST(NewtonPrice, TheWholeRunCostsItsBudgetAndTheModelNothing) {
  for (const std::string algorithm : {"newton", "dp-gd"})
    for (const double epsilon : {0.1, 1.0, 4.0}) {
      Options o = options();
      o.algorithm = algorithm;
      o.rounds = 12;
      o.epsilon = {epsilon};
      Parties p(o, {400, 250, 30});
      p.run();
      for (std::size_t i = 0; i < 3; ++i) {
        const Schedule& s = p.plan_.nodes[i];
        EXPECT_LE(s.epsilon, epsilon);
        EXPECT_GT(s.epsilon, epsilon * (1 - 1e-9));
        double square = 0;
        for (std::size_t t = 0; t < p.charges_[i].size(); ++t) {
          EXPECT_EQ(p.charges_[i][t].mu > 0, t >= 1 && t <= 12) << t;
          square += p.charges_[i][t].mu * p.charges_[i][t].mu;
        }
        EXPECT_NEAR(std::sqrt(square) / privacy::gdp_mu(epsilon, 1e-5), 1, 1e-9);
        EXPECT_EQ(p.charges_[i].back().kind, "none");
      }
    }
}

TEST(NewtonPrice, TheCurvatureHasItsShareAndNoiseIsSizedBySensitivity) {
  Options o = options();
  o.rounds = 32;
  o.epsilon = {1};
  o.clip = 0.5;
  const Parties p(o, {4000, 2500});
  const Schedule& s = p.plan_.nodes[0];
  const double mu = privacy::gdp_mu(1, 1e-5);
  EXPECT_NEAR(s.private_rounds[0].curvature_scale, std::sqrt(2) / (std::sqrt(0.1) * mu), 1e-4);
  EXPECT_NEAR(s.private_rounds[0].gradient_scale, 1 / (std::sqrt(0.9 / 32) * mu), 1e-4);
  EXPECT_EQ(s.private_rounds[1].curvature_scale, 0);
  EXPECT_EQ(s.private_rounds[1].gradient_scale, s.private_rounds[0].gradient_scale);
}

// By hand: μ² = ((2·0.5 + 2e)/σ)² + ((√2 + 2e_S)/s)².
TEST(NewtonPrice, GoldenNumbers) {
  EXPECT_NEAR(privacy::sums_mu({.gradient_bound = 0.5, .gradient_scale = 4}), 0.25, 1e-15);
  EXPECT_NEAR(privacy::sums_mu({.gradient_bound = 0.5, .gradient_scale = 4, .curvature_scale = 2}), 0.75,
              1e-15);  // √(1/16 + 2/4)
  EXPECT_NEAR(privacy::sums_mu({.gradient_bound = 0.35,
                                .gradient_scale = 10,
                                .tolerance = 0.05,
                                .curvature_scale = 5,
                                .curvature_tolerance = 0.1}),
              std::sqrt(0.08 * 0.08 + 0.3228427124746190 * 0.3228427124746190), 1e-15);
  EXPECT_GE(privacy::sums_mu({.gradient_bound = 0.5, .gradient_scale = 4, .curvature_scale = 2}), 0.75);
  EXPECT_NEAR(privacy::curvature_scale_for(0.5, 0), 2 * std::sqrt(2), 1e-12);
  EXPECT_NEAR(privacy::gradient_scale_for(0.35, 0.1, 0), 7, 1e-12);
}

TEST(NewtonPrice, WhatBelongsToAdmmIsRefused) {
  const auto refused = [](Options o) {
    EXPECT_THROW(algorithm::make_plan(o, {.degree = {1, 1}, .records = {10, 10}, .features = 3}), Error);
  };
  for (const std::string algorithm : {"newton", "dp-gd"}) {
    const Options o{.algorithm = algorithm, .epsilon = {1}};
    algorithm::make_plan(o, {.degree = {1, 1}, .records = {10, 10}, .features = 3});
    Options with = o;
    refused((with.penalty = {1}, with));
    refused((with = o, with.damping = 1, with));
    refused((with = o, with.weighting = "equal", with));
    refused((with = o, with.noise = "gamma", with));
    refused((with = o, with.delta = 0, with));
    refused((with = o, with.loss = "hinge", with));
    refused((with = o, with.tolerance = 1e-6, with));
    refused((with = o, with.step_size = "0.5", with));
    refused((with = o, with.damping_growth = 2, with));
    refused((with = o, with.penalty_growth_rounds = 2, with));
    refused((with = o, with.bound = "verified", with));
    refused({.algorithm = algorithm, .noise_rate = {0.5}});
    for (const char* loss : {"huber", "huber-hinge", "softmax"})  // no diameter at a point is proved for them
      refused((with = o, with.loss = loss, with.diameter = "at-point", with));
  }
  refused({.algorithm = "mr-admm", .clip = 0.5, .epsilon = {1}});
  refused({.algorithm = "mr-admm", .curvature = "full", .epsilon = {1}});
}

Plan of_features(long count, int nodes, const std::string& curvature, long entries = 0) {
  Options o{.algorithm = "newton", .rounds = 1, .epsilon = {1}};
  o.curvature = curvature;
  const auto n = static_cast<std::size_t>(nodes);
  return algorithm::make_plan(o, {.degree = std::vector<int>(n, nodes - 1),
                                  .records = std::vector<double>(n, 10),
                                  .features = count,
                                  .entries = entries});
}

// More numbers than a record holds: the curvature becomes its diagonal, or the plan is refused, before a ledger is opened.
TEST(NewtonPlan, TheFirstRoundFitsIntoARecord) {
  EXPECT_EQ(of_features(1000, 100, "auto").nodes[0].sums->shape, Shape::full);
  EXPECT_EQ(of_features(3000, 5, "auto").nodes[0].sums->shape, Shape::full);
  EXPECT_EQ(of_features(3000, 5, "auto", 13).nodes[0].sums->shape, Shape::full) << "also where a row has few entries";
  EXPECT_EQ(of_features(1000, 200, "auto", 13).nodes[0].sums->shape, Shape::diagonal);
  EXPECT_EQ(of_features(3001, 2, "auto", 13).nodes[0].sums->entries, 13);
  EXPECT_THROW(of_features(1000, 200, "full"), Error);
  EXPECT_THROW(of_features(12000, 2, "full"), Error);
  EXPECT_THROW(of_features(40'000'000, 2, "auto", 13), Error);
}

// With d in its place the model guessed: 37.1 % of test records wrong, where all second moments gave 21.1 %.
TEST(NewtonPlan, TheDiagonalIsNotTakenWhereNothingPublicSaysHowManyEntriesARowHas) {
  for (const auto& [count, nodes] : {std::pair{1000L, 200}, {3001L, 2}})
    EXPECT_THAT(message_of([&] { of_features(count, nodes, "auto"); }),
                AllOf(HasSubstr("the model would guess"), HasSubstr("no schema"), HasSubstr("option --curvature"),
                      HasSubstr("--algorithm mr-admm")));
  EXPECT_EQ(of_features(3001, 2, "diagonal").nodes[0].sums->entries, 3001) << "what is asked for is done";
}

// ---- noise that cancels ----

Plan shared_plan(Options o, int nodes, std::uint64_t colluders) {
  o.colluders = colluders;
  const auto n = static_cast<std::size_t>(nodes);
  return algorithm::make_plan(
      o, {.degree = std::vector<int>(n, nodes - 1), .records = std::vector<double>(n, 400), .features = 4});
}

TEST(NewtonShared, BothEpsilonsAreThoseOfTheSpecification) {
  const Options o{.algorithm = "newton", .epsilon = {1}, .delta = 1e-5};
  const Plan plan = shared_plan(o, 100, 25);
  EXPECT_LE(plan.epsilon(), 1);
  EXPECT_NEAR(plan.epsilon(), 1, 1e-9);
  EXPECT_NEAR(plan.epsilon_all_others(), 12.0, 0.05);  // docs/check/frontier-tables.md
  const Plan all = shared_plan(o, 100, 99);            // today's guarantee
  EXPECT_FALSE(all.sharing().on());
  EXPECT_EQ(all.epsilon(), all.epsilon_all_others());
  const Plan none = algorithm::make_plan(o, {.degree = {1, 1}, .records = {9, 9}, .features = 4});
  EXPECT_EQ(none.epsilon(), none.epsilon_all_others());
}

TEST(NewtonShared, AllPartiesHaveTheNoiseOfWhoAsksForMost) {
  const Plan plan = shared_plan({.algorithm = "newton", .epsilon = {1, 2, 4}, .delta = 1e-5}, 3, 1);
  for (const Schedule& s : plan.nodes) {
    EXPECT_EQ(s.private_rounds[0].gradient_scale, plan.nodes[0].private_rounds[0].gradient_scale);
    EXPECT_EQ(s.private_rounds[0].curvature_scale, plan.nodes[0].private_rounds[0].curvature_scale);
    EXPECT_EQ(s.sharing.noise.own, plan.sharing().noise.own);
    EXPECT_LE(s.epsilon, 1);
  }
}

// ν counts what is left in the sum: F = √(N/(N − c)) instead of √N.
TEST(NewtonShared, TheSumCarriesLessNoise) {
  const Options o{.algorithm = "newton", .epsilon = {1}, .delta = 1e-5};
  const double own = noise_to_signal(*known_of(shared_plan(o, 20, 19))),
               shared = noise_to_signal(*known_of(shared_plan(o, 20, 4)));
  EXPECT_NEAR(own / shared, std::sqrt(16.0), 0.02 * 4);
}

TEST(NewtonShared, IsRefusedWhereItDoesNotHold) {
  const auto refused = [](const Options& o, std::uint64_t colluders) {
    EXPECT_THROW(shared_plan(o, 4, colluders), Error) << o.algorithm << colluders;
  };
  const Options o{.algorithm = "newton", .epsilon = {1}, .delta = 1e-5};
  refused(o, 4);
  refused(o, 1000);
  refused({.algorithm = "newton", .noise_scale = {3}}, 1);
  refused({.algorithm = "newton", .noise = "none"}, 1);
  for (const char* minimises : {"mr-admm", "dvp", "pp", "star-pvp"})
    refused({.algorithm = minimises, .epsilon = {1}}, 1);
  refused({.algorithm = "dp-admm", .noise = "gamma", .epsilon = {1}}, 1);
  for (const char* may : {"newton", "dp-gd", "dp-admm", "linear-admm"})
    EXPECT_TRUE(shared_plan({.algorithm = may, .epsilon = {1}, .delta = 1e-5}, 4, 1).sharing().on()) << may;
}

// Where slopes are cut follows from ν and the loss alone (docs/check/newton-settings.md).
TEST(NewtonPrice, WhereSlopesAreCut) {
  const auto clip = [](const std::string& loss, double epsilon, long features = 62, const char* algorithm = "newton") {
    const Setting setting{
        .degree = {4, 4, 4, 4, 4}, .records = std::vector<double>(5, 9000), .features = features, .classes = 3};
    return *algorithm::make_plan({.algorithm = algorithm, .loss = loss, .epsilon = {epsilon}}, setting).options.clip;
  };
  EXPECT_EQ(clip("logistic", 1), 0.5);      // ν = 0.011
  EXPECT_EQ(clip("logistic", 0.25), 0.35);  // ν = 0.042
  EXPECT_EQ(clip("huber", 0.25), 0.35);
  EXPECT_EQ(clip("logistic", 0.25, 149), 0.35);
  for (const long many : {150, 1000}) EXPECT_EQ(clip("logistic", 0.25, many), 0.5) << "steps are short already";
  EXPECT_EQ(clip("logistic", 0.25, 200, "dp-gd"), 0.35) << "it has no floor";
  EXPECT_EQ(clip("huber", 0.25, 200), 0.35);
  for (const double epsilon : {0.25, 1.0}) EXPECT_EQ(clip("huber-hinge", epsilon), 1);
  EXPECT_EQ(clip("softmax", 1), problem::Loss({.kind = problem::LossKind::softmax, .classes = 3}).gradient_bound());
}

// Values of all parties add up without rounding, in any order, and stay far from the bound.
TEST(NewtonPrice, SumsAreExact) {
  Options o = options();
  o.epsilon = {0.5};
  o.rounds = 3;
  Parties p(o, {400, 250, 30, 7, 90});
  p.run();
  for (std::size_t t = 1; t <= 3; ++t) {
    Vector forward = Vector::Zero(p.released_[t][0]->size()), backward = forward;
    for (std::size_t i = 0; i < 5; ++i) forward += *p.released_[t][i], backward += *p.released_[t][4 - i];
    EXPECT_EQ(forward, backward);
    for (const auto& value : p.released_[t]) EXPECT_LT(value->cwiseAbs().maxCoeff(), 500);
  }
}

}  // namespace
}  // namespace parley::algorithm::newton
