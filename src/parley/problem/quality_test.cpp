#include "parley/problem/quality.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "parley/problem/rows_test.h"
#include "parley/problem/solve.h"

namespace parley::problem {
namespace {

const Loss logistic_loss{}, regression_loss{.kind = LossKind::huber, .width = 2};

Scored two_classes(std::vector<double> label, std::vector<double> score) {
  return {.loss = logistic_loss, .label = std::move(label), .score = std::move(score)};
}

// So many rows, a share of them positive; the score of a positive row lies `shift` higher.
Scored random_scored(std::size_t count, double positive, double shift, unsigned seed) {
  std::mt19937 draw(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  Scored s{.loss = logistic_loss, .label = {}, .score = {}};
  for (std::size_t i = 0; i < count; ++i) {
    s.label.push_back(uniform(draw) < positive ? 1 : -1);
    s.score.push_back(normal(draw) + shift * s.label.back());
  }
  return s;
}

TEST(Quality, FiguresOfTwoClassesAreThoseCountedByHand) {
  const Quality q = quality(two_classes({1, 1, -1, -1, -1}, {2, -1, -1, 1, -3}));
  EXPECT_EQ(q.rows, 5U);
  EXPECT_DOUBLE_EQ(q.error, 2.0 / 5);
  EXPECT_DOUBLE_EQ(q.baseline_error, 2.0 / 5);
  EXPECT_DOUBLE_EQ(*q.balanced_error, 1 - (1.0 / 2 + 2.0 / 3) / 2);
  EXPECT_DOUBLE_EQ(*q.auc, (3 + 1.5) / 6);  // of the six pairs four are right and one ties: (2: 3) + (−1: 1 + ½)
  EXPECT_DOUBLE_EQ(*q.f1, 2.0 / (2 + 1 + 1));
  EXPECT_EQ(q.confusion, (std::vector<std::vector<std::size_t>>{{2, 1}, {1, 1}}));
  const auto p = [](double s) { return 1 / (1 + std::exp(-s)); };
  EXPECT_NEAR(*q.log_loss,
              -(std::log(p(2)) + std::log(p(-1)) + std::log(1 - p(-1)) + std::log(1 - p(1)) + std::log(1 - p(-3))) / 5,
              1e-14);
  EXPECT_NEAR(
      *q.brier,
      (std::pow(1 - p(2), 2) + std::pow(1 - p(-1), 2) + std::pow(p(-1), 2) + std::pow(p(1), 2) + std::pow(p(-3), 2)) /
          5,
      1e-14);
  ASSERT_EQ(q.calibration.size(), 10U);
  EXPECT_EQ(q.calibration[2].rows, 2U);  // p(−1) = 0.27, one of the two is positive
  EXPECT_DOUBLE_EQ(q.calibration[2].observed, 0.5);
  EXPECT_DOUBLE_EQ(q.calibration[2].predicted, p(-1));
  ASSERT_EQ(q.roc.size(), 5U);  // a point for each of four scores, and (0, 0)
  EXPECT_DOUBLE_EQ(q.roc[1].found, 0.5);
  EXPECT_DOUBLE_EQ(q.roc[1].false_alarms, 0);
}

TEST(Quality, AucCountsPairsAndGivesATieHalf) {
  std::mt19937 draw(3);
  std::vector<double> score;
  std::vector<bool> positive;
  for (int i = 0; i < 200; ++i) score.push_back(static_cast<double>(draw() % 7)), positive.push_back(draw() % 3 == 0);
  double pairs = 0, right = 0;
  for (std::size_t i = 0; i < 200; ++i)
    for (std::size_t j = 0; j < 200; ++j)
      if (positive[i] && !positive[j]) ++pairs, right += score[i] > score[j] ? 1 : score[i] == score[j] ? 0.5 : 0;
  EXPECT_NEAR(*auc_of(mid_ranks(score), positive), right / pairs, 1e-13);
  EXPECT_FALSE(auc_of(mid_ranks(score), std::vector<bool>(200, true)));
}

TEST(Quality, AreaUnderTheRocCurveIsTheAuc) {
  const Scored s = random_scored(150, 0.3, 0.7, 5);
  std::vector<bool> positive;
  for (const double y : s.label) positive.push_back(y > 0);
  const auto points = roc(s.score, positive, 100'000);
  double area = 0;
  for (std::size_t i = 1; i < points.size(); ++i)
    area += (points[i].false_alarms - points[i - 1].false_alarms) * (points[i].found + points[i - 1].found) / 2;
  EXPECT_NEAR(area, *quality(s).auc, 1e-12);
  EXPECT_LT(roc(s.score, positive, 20).size(), 25U);
  EXPECT_DOUBLE_EQ(roc(s.score, positive, 20).back().found, 1);
}

TEST(Quality, SignTestIsTheBinomialTail) {
  EXPECT_NEAR(sign_test(5, 0), 1.0 / 32, 1e-15);
  EXPECT_NEAR(sign_test(8, 2), 56.0 / 1024, 1e-14);
  EXPECT_DOUBLE_EQ(sign_test(0, 0), 1);
  EXPECT_DOUBLE_EQ(sign_test(0, 7), 1);
}

TEST(Quality, AModelThatSaysTheLargerClassIsNoBetterHoweverLowItsErrorIs) {
  Scored s = random_scored(600, 0.11, 0, 1);
  for (double& score : s.score) score = -3 + 0.1 * score;  // never above 0, and in no order
  const Quality q = quality(s);
  EXPECT_DOUBLE_EQ(q.error, q.baseline_error);
  EXPECT_LT(q.error, 0.14);
  EXPECT_TRUE(q.verdict.no_better);
  EXPECT_THAT(q.verdict.text, testing::StartsWith("no better than always guessing the larger class"));
}

TEST(Quality, AGoodModelIsBetterAndAGoodOrderAloneIsNot) {
  EXPECT_FALSE(quality(random_scored(600, 0.4, 1, 1)).verdict.no_better);
  Scored shifted = random_scored(600, 0.11, 1, 1);
  for (double& score : shifted.score) score -= 100;  // the order stays
  const Quality q = quality(shifted);
  EXPECT_TRUE(q.verdict.no_better);
  EXPECT_LE(*q.verdict.p_order, Verdict::level);
  EXPECT_THAT(q.verdict.text, testing::HasSubstr("The order of the scores does say something"));
}

TEST(Quality, TheVerdictSaysThatItsTestsAreForIndependentRows) {
  for (const double slope : {0.0, 1.0}) {
    const Scored rows = random_scored(600, 0.4, slope, 1);
    EXPECT_THAT(quality(rows).verdict.text, testing::HasSubstr("at 1 % if rows are independent)"));
    EXPECT_THAT(quality(rows).verdict.text, testing::Not(testing::HasSubstr("a person")));
    EXPECT_THAT(quality(rows, {.several_rows = true}).verdict.text,
                testing::EndsWith("a person may have several rows here, which are not independent, so the tests say "
                                  "\"better\" too easily"));
  }
}

// Of models that know nothing, at most 1 % pass by chance: with 500, more than 15 have a probability below 0.0002.
TEST(Quality, AModelThatKnowsNothingHardlyEverPassesATest) {
  int order = 0, error = 0;
  for (unsigned seed = 0; seed < 500; ++seed) {
    const Verdict v = quality(random_scored(60, 0.5, 0, seed)).verdict;
    order += *v.p_order <= Verdict::level ? 1 : 0;
    error += v.p_error <= Verdict::level ? 1 : 0;
  }
  EXPECT_LE(order, 15);
  EXPECT_LE(error, 15);
}

TEST(Quality, TheOrderOfScoresWithManyTiesIsJudgedExactly) {
  Scored s = two_classes({}, {});
  for (int i = 0; i < 8; ++i) s.label.push_back(i < 4 ? 1 : -1), s.score.push_back(i < 4 ? 1 : 0);
  // Of the 70 orders of the labels one is as good as this one.
  EXPECT_NEAR(*quality(s).verdict.p_order, 1.0 / 70, 0.01);
  for (double& score : s.score) score = 2;
  EXPECT_DOUBLE_EQ(*quality(s).verdict.p_order, 1);
  EXPECT_DOUBLE_EQ(*quality(s).auc, 0.5);
}

TEST(Quality, FiguresOfANumberAreInItsOwnUnit) {
  const Scored s{.loss = regression_loss, .label = {-1, 0, 1}, .score = {-0.5, 0, 0.5}};
  const Quality q = quality(s, {.unit = {.low = 100, .high = 300}});  // 100, 200, 300 and 150, 200, 250
  EXPECT_NEAR(*q.mae, 100.0 / 3, 1e-12);
  EXPECT_NEAR(q.error, std::sqrt(5000.0 / 3), 1e-12);
  EXPECT_NEAR(q.baseline_error, std::sqrt(20000.0 / 3), 1e-12);
  EXPECT_NEAR(*q.r_squared, 0.75, 1e-12);
  EXPECT_FALSE(q.auc || q.balanced_error || q.log_loss);
}

TEST(Quality, ANumberThatIsPredictedWellIsBetterThanItsMeanAndNoiseIsNot) {
  std::mt19937 draw(7);
  std::normal_distribution<double> normal;
  Scored good{.loss = regression_loss, .label = {}, .score = {}}, noise = good;
  for (int i = 0; i < 300; ++i) {
    const double y = std::tanh(normal(draw));
    good.label.push_back(y), good.score.push_back(y + 0.2 * normal(draw));
    noise.label.push_back(y), noise.score.push_back(0.2 * normal(draw));
  }
  EXPECT_FALSE(quality(good).verdict.no_better);
  EXPECT_TRUE(quality(noise).verdict.no_better);
}

TEST(Quality, FiguresOfSeveralClassesAreMeansOverClasses) {
  const Loss softmax{.kind = LossKind::softmax, .classes = 3};
  const Scored s{.loss = softmax, .label = {0, 0, 1, 2}, .score = {5, 0, 0, 0, 5, 0, 0, 5, 0, 0, 0, 5}};
  const Quality q = quality(s);
  EXPECT_DOUBLE_EQ(q.error, 0.25);
  EXPECT_DOUBLE_EQ(q.baseline_error, 0.5);
  EXPECT_DOUBLE_EQ(*q.balanced_error, 1 - (0.5 + 1 + 1) / 3);
  EXPECT_DOUBLE_EQ(*q.f1, (2.0 / 3 + 2.0 / 3 + 1) / 3);
  EXPECT_NEAR(*q.auc, (0.75 + 2.5 / 3 + 1) / 3, 1e-14);  // one against the rest
  EXPECT_EQ(q.confusion[0], (std::vector<std::size_t>{1, 1, 0}));
  EXPECT_TRUE(q.verdict.no_better);  // of four rows nobody can tell
}

// Three classes along one feature: the middle one never has a large score, and is told from the others by theirs.
TEST(Quality, AClassIsOrderedByItsProbabilityAndNotByItsScore) {
  Scored s{.loss = {.kind = LossKind::softmax, .classes = 3}, .label = {}, .score = {}};
  for (int i = 0; i < 60; ++i) {
    const double x = (i - 29.5) / 10;  // classes 0, 1, 2 from left to right
    s.label.push_back(i < 20 ? 0 : i < 40 ? 1 : 2);
    for (const double score : {-4 * x, 4.0, 4 * x}) s.score.push_back(score);
  }
  const Quality q = quality(s);
  EXPECT_EQ(q.error, 0);
  EXPECT_EQ(q.auc, 1);
  EXPECT_FALSE(q.verdict.no_better) << q.verdict.text;
}

TEST(Quality, OfTheSoftmaxOptimumItIsBetterThanGuessing) {
  const Rows rows = random_class_rows(600, 4, 1, 2, 3);
  const Loss softmax{.kind = LossKind::softmax, .classes = 3};
  const Problem p{.rows = &rows, .loss = softmax, .weight = 1, .regularization = 1e-3};
  const Vector f = centralised_optimum({&p, 1}, {.tolerance = 1e-6}).f;
  const Quality q = quality(scored(rows, softmax, f));
  EXPECT_FALSE(q.verdict.no_better) << q.verdict.text;
  EXPECT_GT(*q.auc, 0.6);
}

TEST(Quality, OfRowsOfOneClassGuessingIsNeverWrongAndThereIsNoAuc) {
  Scored s = random_scored(50, 0.5, 1, 2);
  for (double& y : s.label) y = -1;
  const Quality q = quality(s);
  EXPECT_EQ(q.baseline_error, 0);
  EXPECT_EQ(q.baseline_balanced_error, 0);
  EXPECT_FALSE(q.auc || q.verdict.p_order);
  EXPECT_TRUE(q.verdict.no_better);
  EXPECT_THAT(q.verdict.text,
              testing::AllOf(testing::HasSubstr("all rows are of one class"), testing::Not(testing::HasSubstr("AUC"))));
  const Quality two = quality(random_scored(50, 0.5, 1, 2));
  EXPECT_DOUBLE_EQ(*two.baseline_balanced_error, 0.5);
  const Loss softmax{.kind = LossKind::softmax, .classes = 3};  // the third class does not occur
  const Quality of_three = quality({.loss = softmax, .label = {0, 0, 1}, .score = {5, 0, 0, 0, 5, 0, 0, 5, 0}});
  EXPECT_DOUBLE_EQ(*of_three.baseline_balanced_error, 0.5);
}

TEST(Quality, AHingeHasNoProbabilities) {
  Scored s = random_scored(50, 0.5, 1, 2);
  s.loss.kind = LossKind::huber_hinge;
  const Quality q = quality(s);
  EXPECT_FALSE(q.log_loss || q.brier);
  EXPECT_TRUE(q.calibration.empty());
  EXPECT_FALSE(q.roc.empty()) << "its scores order rows all the same";
  EXPECT_TRUE(q.auc);
}

TEST(Quality, AHigherThresholdSaysThePositiveClassLessOften) {
  const Scored s = random_scored(200, 0.5, 1, 2);
  const Quality usual = quality(s), strict = quality(s, {.threshold = 1.5});
  EXPECT_LT(strict.confusion[0][1], usual.confusion[0][1]);
  EXPECT_GT(strict.confusion[1][0], usual.confusion[1][0]);
  EXPECT_DOUBLE_EQ(*strict.auc, *usual.auc);
}

}  // namespace
}  // namespace parley::problem
