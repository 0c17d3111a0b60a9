// What class weights do to plans: noise and charges follow the largest, everywhere or not at all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parley/algorithm/newton/newton_plan.h"
#include "parley/algorithm/planner.h"
#include "parley/algorithm/pricing.h"
#include "parley/algorithm/private_update.h"
#include "parley/algorithm/rules.h"
#include "parley/base/error.h"
#include "parley/base/message_test.h"
#include "parley/privacy/pure.h"

namespace parley::algorithm {
namespace {

using ::testing::AllOf;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Setting five_nodes(int classes = 2) {
  return {
      .degree = std::vector<int>(5, 2), .records = std::vector<double>(5, 8000), .features = 10, .classes = classes};
}

Options with(Options o, const std::string& class_weight) {
  o.class_weight = class_weight;
  return o;
}

TEST(ClassWeights, AreNumbersOrFollowFromPublicShares) {
  Options o;
  EXPECT_TRUE(class_weights(o, 2).empty());
  o.class_weight = "1,4";
  EXPECT_THAT(class_weights(o, 2), ElementsAre(1, 4));
  o.class_weight = "balanced";
  o.class_share = {0.11};
  EXPECT_THAT(class_weights(o, 2), ElementsAre(DoubleNear(1 / (2 * 0.89), 1e-15), DoubleNear(1 / (2 * 0.11), 1e-15)));
  o.class_share = {0.89, 0.11};
  EXPECT_THAT(class_weights(o, 2), ElementsAre(DoubleNear(1 / (2 * 0.89), 1e-15), DoubleNear(1 / (2 * 0.11), 1e-15)));
  o.loss = "softmax";
  o.class_share = {0.5, 0.3, 0.2};
  EXPECT_THAT(class_weights(o, 3),
              ElementsAre(DoubleNear(1 / 1.5, 1e-15), DoubleNear(1 / 0.9, 1e-15), DoubleNear(1 / 0.6, 1e-15)));
}

// By hand, weights 1 and 4: the same noise costs four times as much.
TEST(ClassWeights, TheSameNoiseCostsTheLargestWeightTimesAsMuch) {
  for (const Options& o : std::vector<Options>{
           {.algorithm = "newton", .rounds = 1, .curvature_share = 1e-9, .noise_scale = {100}},
           {.algorithm = "dp-gd", .rounds = 1, .noise_scale = {100}},
           {.algorithm = "dp-admm", .rounds = 1, .noise = "gaussian", .noise_scale = {3}},
           {.algorithm = "linear-admm", .rounds = 1, .noise = "gaussian", .noise_scale = {3}},
           {.algorithm = "star-pvp", .rounds = 1, .noise = "gaussian", .noise_scale = {3}},
           {.algorithm = "dvp", .rounds = 1, .noise = "gaussian", .noise_on = "output", .noise_scale = {3}}}) {
    const privacy::Charge plain = make_plan(o, five_nodes()).nodes[0].private_rounds[0].charge,
                          weighted = make_plan(with(o, "1,4"), five_nodes()).nodes[0].private_rounds[0].charge;
    EXPECT_GT(plain.mu, 0);
    EXPECT_NEAR(weighted.mu / plain.mu, 4, 1e-4) << o.algorithm;  // but for the tolerance
  }
  for (const Options& o :
       std::vector<Options>{{.algorithm = "pvp", .rounds = 1, .noise = "gamma", .noise_rate = {3}},
                            {.algorithm = "linear-admm", .rounds = 1, .noise = "gamma", .noise_rate = {3}}}) {
    const double plain = make_plan(o, five_nodes()).epsilon(),
                 weighted = make_plan(with(o, "4,0.5"), five_nodes()).epsilon();
    EXPECT_NEAR(weighted / plain, 4, 1e-4) << o.algorithm;
  }
}

TEST(ClassWeights, ABudgetBuysTheLargestWeightTimesTheNoiseAndIsKept) {
  for (const char* algorithm : {"newton", "dp-gd", "dp-admm", "linear-admm", "star-pvp"}) {
    const Options o{.algorithm = algorithm, .rounds = 20, .clip = {}, .epsilon = {1}};
    const Plan plain = make_plan(o, five_nodes()), weighted = make_plan(with(o, "0.5,8"), five_nodes());
    EXPECT_LE(weighted.epsilon(), 1);
    EXPECT_GT(weighted.epsilon(), 1 - 1e-6);
    const PrivateRound &one = plain.nodes[0].private_rounds[0], &other = weighted.nodes[0].private_rounds[0];
    const bool gradient = one.gradient_scale > 0;
    const double grown = gradient
                             ? other.gradient_scale / one.gradient_scale
                             : other.output_scale * other.strong_convexity / (one.output_scale * one.strong_convexity);
    EXPECT_NEAR(grown, 8, 1e-3) << algorithm;
    EXPECT_NEAR(other.curvature_scale, one.curvature_scale, 1e-9) << "second moments have no weights";
  }
}

// Theorems 1 and 2 with a₀ times the largest weight.
TEST(ClassWeights, GammaNoiseInTheObjectiveIsPricedByTheLargest) {
  for (const char* loss : {"logistic", "huber-hinge"}) {
    const Options o{
        .algorithm = "dvp", .rounds = 1, .loss = loss, .class_weight = "1,4", .noise = "gamma", .noise_rate = {0.5}};
    const Schedule s = make_plan(o, five_nodes(), true).nodes[0];
    const bool logistic = o.loss == problem::LossKind::logistic;
    const double expected = privacy::objective_epsilon({.gradient_weight = 4 * 1750.0 / 8000,
                                                        .strong_convexity = s.private_rounds[0].strong_convexity,
                                                        .curvature_bound = logistic ? 0.25 : 1,
                                                        .logistic = logistic},
                                                       0.5);
    EXPECT_NEAR(s.epsilon, expected, 1e-12) << loss;
    EXPECT_GE(s.epsilon, expected) << loss;
    EXPECT_EQ(s.epsilon_paper_absent, "the papers have no class weights");
  }
}

// The noise at a point is the same share of that for gradients 2G apart, whatever the weights.
TEST(ClassWeights, TheDiameterAtAPointGrowsWithThem) {
  const Vector f = Vector::Constant(3, 1.0);
  const problem::Loss plain{}, weighted{.class_weights = {1, 4}};
  EXPECT_NEAR(noise_share(weighted, 0.2, 1e-9, true, f), noise_share(plain, 0.2, 1e-9, true, f), 1e-8);
  EXPECT_LT(noise_share(weighted, 0.2, 1e-9, true, f), 0.9);
  EXPECT_LT(noise_share(plain, 1, 3e-15, true, f), 1);
  EXPECT_EQ(noise_share(weighted, 1, 3e-15, true, f), 1) << "one gradient's rounding is times the weight, too";
  const problem::Loss cut{.cap = 0.5, .class_weights = {1, 4}};
  EXPECT_EQ(noise_share(cut, 1, 1e-9, true, f), 1) << "2G is less than the diameter";
}

TEST(ClassWeights, ThePlannerTakesWhatIsProvedWithThem) {
  EXPECT_EQ(select_algorithm(with({.epsilon = {1}}, "1,4"), false).algorithm, "newton");
  const Plan recycled = make_plan(with({.algorithm = "mr-admm", .epsilon = {1}}, "1,4"), five_nodes());
  EXPECT_EQ(recycled.nodes[0].place, Place::output) << "theorem G is for records that weigh the same";
  EXPECT_EQ(recycled.nodes[0].private_rounds[0].charge.kind, "output-gaussian");
  const Plan pure = make_plan(with({.algorithm = "mr-admm", .epsilon = {1}, .delta = 0}, "1,4"), five_nodes());
  EXPECT_EQ(pure.nodes[0].place, Place::objective);
  const Plan newton = make_plan(with({.algorithm = "newton", .epsilon = {1}}, "1,4"), five_nodes());
  EXPECT_FALSE(newton::known_of(newton)) << "no forecast was made for class weights";
  EXPECT_THAT(newton::why_no_forecast(newton), HasSubstr("class weights"));
  EXPECT_THAT(newton::in_words(newton), HasSubstr("slopes cut at 0.5, then times the weight of the class: at most 4"));
  EXPECT_NEAR(newton.nodes[0].sums->c1, 1, 1e-15) << "the curvature follows the largest, too";
}

TEST(ClassWeights, AreRefusedWhereNothingIsProvedOrTheyMeanNothing) {
  const auto refused = [](const Options& o, const std::string& where, const std::string& what, int classes = 2) {
    EXPECT_THAT(message_of([&] { make_plan(o, five_nodes(classes)); }),
                AllOf(HasSubstr("option --" + where), HasSubstr(what)));
  };
  const Options newton{.algorithm = "newton", .epsilon = {1}};
  for (const char* algorithm : {"mr-admm", "r-admm", "dvp", "m-admm"})
    refused(with({.algorithm = algorithm, .noise = "gaussian", .noise_on = "objective", .epsilon = {1}}, "1,4"),
            "noise-on", "records that weigh the same");
  refused(with({.algorithm = "pp", .epsilon = {1}}, "1,4"), "noise-on", "records that weigh the same");
  Options o = with(newton, "1,4");
  o.intervals = true;
  refused(o, "class-weight", "intervals are for the log-odds");
  o = with(newton, "1,4");
  o.loss = "huber";
  refused(o, "class-weight", "the label is a number");
  refused(with(newton, "balanced"), "class-share", "how many records a class has is private");
  refused(with(newton, "1"), "class-weight", "every class has a weight");
  refused(with(newton, "1,2,3"), "class-weight", "3 numbers for 2 classes");
  o = with(newton, "1,2");
  o.loss = "softmax";
  refused(o, "class-weight", "2 numbers for 3 classes", 3);
  o = with(newton, "1,4");
  o.class_share = {0.2};
  refused(o, "class-share", "goes with --class-weight balanced");
  o = with(newton, "balanced");
  o.class_share = {0.5, 0.3};
  refused(o, "class-share", "add up to 1");
  o.class_share = {0.5, 0.3, 0.2};
  refused(o, "class-share", "there are 2 classes");
  refused(with({.algorithm = "star-pvp", .epsilon = {1}, .sensitivity = "paper"}, "1,4"), "sensitivity",
          "knows no class weights");
}

}  // namespace
}  // namespace parley::algorithm
