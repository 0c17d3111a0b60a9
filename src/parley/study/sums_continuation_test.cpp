// A run of newton or dp-gd in parts: the common point, the curvature and the model go on
// (docs/check/protocol-parts.md, section 11).
#include "parley/base/message_test.h"
#include "parley/study/continuation_test.h"
#include "parley/study/part_history.h"

namespace parley::study {
namespace {

using Values = std::vector<std::vector<Vector>>;

struct InTwoParts {
  InTwoParts(const Trial& run, std::vector<int> lost, int released)
      : none(at(run.part.agreed.nodes())),
        whole(run.values(run.part, none)),
        next(without(run.part, std::move(lost), released)),
        part(next_part(run.part, next)),
        starts(run.starts_after(run.part, part, next, none, whole)),
        rest(run.values(part, starts)) {}

  std::vector<algorithm::Start> none;
  Values whole;
  protocol::Succession next;
  Part part;
  std::vector<algorithm::Start> starts;
  Values rest;
};

// The sums of round k are asked for again, at the same point; then all goes on as it would have.
TEST(SumsContinuation, WithEverybodyTheSamePointsAreReached) {
  for (const std::string name : {"newton", "dp-gd"})
    for (const int k : {2, 3, 6}) {
      const Trial run(options(name, 8, "none"), ring(4));
      const InTwoParts both(run, {}, k);
      ASSERT_EQ(both.rest.size() + at(k), both.whole.size()) << "rounds are counted through";
      for (std::size_t t = 1; t + 1 < both.rest.size(); ++t)
        for (std::size_t i = 0; i < 4; ++i)
          EXPECT_LT((both.rest[t][i] - both.whole[at(k) + t - 1][i]).norm(), 1e-9) << name << k << ", round " << t;
    }
}

TEST(SumsContinuation, SecondMomentsAreReleasedOnce) {
  const Trial run(options("newton", 8, "gaussian", 2), ring(4));
  EXPECT_EQ(run.part.agreed.size(0, 1), features * (features + 1) / 2 + features);
  for (const int k : {0, 1}) {  // not everybody has everybody's
    const Part again = next_part(run.part, without(run.part, {1}, k));
    EXPECT_EQ(again.agreed.size(0, 1), features * (features + 1) / 2 + features) << k;
    EXPECT_GT(again.plan.nodes[0].private_rounds[0].curvature_scale, 0);
  }
  const Part known = next_part(run.part, without(run.part, {1}, 2));
  EXPECT_EQ(known.agreed.size(0, 1), features);
  EXPECT_EQ(known.agreed.largest_size, features);
  EXPECT_EQ(known.plan.nodes[0].private_rounds[0].curvature_scale, 0);
  const Part third = next_part(known, without(known, {}, 1));
  EXPECT_EQ(third.agreed.size(0, 1), features) << "known from the first part";
}

TEST(SumsContinuation, TheFloorFollowsFromTheNoiseThatWasReleased) {
  const Trial run(options("newton", 8, "gaussian", 0.5), ring(4));
  const auto& before = *run.part.plan.nodes[0].sums;
  const Part next = next_part(run.part, without(run.part, {1}, 4));
  const auto& after = *next.plan.nodes[0].sums;
  EXPECT_LT(after.records, before.records);
  EXPECT_GE(after.floor, 0.5 * before.floor) << "never as if there had been no noise";
}

// Also where the lost one held most of the rows, and so most of the curvature.
TEST(SumsContinuation, SurvivorsConvergeToTheirOwnOptimum) {
  for (const std::string name : {"newton", "dp-gd"}) {
    algorithm::Options o = options(name, 400, "none");
    o.regularization = 0.05;
    const Trial run(o, ring(4));
    const InTwoParts both(run, {3}, 6);
    const auto alone = run.values(next_part(run.part, without(run.part, {3}, 0)), std::vector<algorithm::Start>(3));
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_LT((both.rest.back()[i] - alone.back()[0]).norm(), 1e-6) << name;
      EXPECT_GT((both.rest.back()[i] - both.whole.back()[0]).norm(), 1e-3) << "another problem than that of all four";
    }
  }
  EXPECT_EQ(algorithm::newton::counted_records(100, 60), 100);
  EXPECT_EQ(algorithm::newton::counted_records(100, 10), 20);
}

TEST(SumsContinuation, AllPartsTogetherCostWhatTheStudyPlanned) {
  for (const std::string name : {"newton", "dp-gd"})
    for (const int k : {0, 1, 4}) {
      const Trial run(options(name, 8, "gaussian", 2), ring(4));
      const Part part = next_part(run.part, without(run.part, {1}, k));
      for (int i = 0; i < 3; ++i) {
        ledger::Spend all = part.anybody.spent[at(i)];
        for (const auto& c : charges(part, i)) all.add(ledger::Price{c.epsilon, c.mu});
        EXPECT_LE(all.total(), part.anybody.allowance[at(i)]) << name << k;
        EXPECT_GT(all.total(), 0.999 * part.anybody.allowance[at(i)]) << name << k;
        EXPECT_LE(all.epsilon(), 2 * (1 + 1e-9)) << name << k;
      }
    }
}

// All begin at the point that all had reached, and each compares the others' with its own.
TEST(SumsContinuation, AllBeginAtOnePoint) {
  const Trial run(options("newton", 8, "gaussian", 2), ring(4));
  for (const int k : {3, 9}) {  // after the model was released, too
    const InTwoParts both(run, {1}, k);
    for (std::size_t i = 1; i < 3; ++i) EXPECT_EQ(both.rest[0][i], both.rest[0][0]);
  }
}

// A round of sums that some have and others lack is none, in every part anew.
TEST(SumsContinuation, WithoutACompleteRoundInAnyPartThereIsNoModel) {
  const Trial run(options("newton", 2, "gaussian", 2), network::complete_graph(6));
  const Part second = next_part(run.part, without(run.part, {5}, 1));
  EXPECT_EQ(second.sums, 0);
  EXPECT_THROW(next_part(second, without(second, {4}, 1)), Error) << "two rounds were paid, and no sum is complete";
}

TEST(SumsContinuation, APartWithoutRoundsIsFollowedByNone) {
  const Trial run(options("newton", 6, "gaussian", 2), network::complete_graph(7));
  const Part second = next_part(run.part, without(run.part, {6}, 3));
  EXPECT_EQ(second.sums, 2);
  const Part third = next_part(second, without(second, {5}, second.agreed.rounds));
  ASSERT_EQ(third.agreed.rounds, 0);
  const Part fourth = next_part(third, without(third, {4}, 0));
  EXPECT_EQ(fourth.agreed.rounds, 0);
  EXPECT_EQ(fourth.sums, third.sums);
}

TEST(SumsContinuation, TheModelIsFreeAndTheMeanOfThePointsOfAllParts) {
  const Trial run(options("newton", 8, "gaussian", 2), ring(4));
  const InTwoParts after_the_model(run, {1}, 9);
  ASSERT_EQ(after_the_model.rest.size(), 1u) << "a part without rounds";
  EXPECT_EQ(after_the_model.rest[0][0], after_the_model.whole[9][0]) << "the model as it was released";
  const InTwoParts before_it(run, {1}, 8);
  ASSERT_EQ(before_it.rest.size(), 1u) << "all sums are paid, and those of seven rounds are with all";
  EXPECT_TRUE(charges(before_it.part, 0).empty());
  EXPECT_GT(before_it.rest[0][0].norm(), 0);
  EXPECT_EQ(before_it.rest[0][0],
            algorithm::newton::free_value(*before_it.starts[0].common, *run.part.plan.nodes[0].sums, true));
  auto one_is_ahead = without(run.part, {1}, 7);
  one_is_ahead.released[0] = 8;
  EXPECT_EQ(next_part(run.part, one_is_ahead).agreed.rounds, 0) << "nothing is left for it, and the model is free";
  const InTwoParts late(run, {1}, 6);
  EXPECT_EQ(late.starts[0].common->counted, 1) << "of the points after rounds 5 to 8: one";
  EXPECT_EQ(late.rest.size(), 4u);
}

TEST(SumsContinuation, TheMeanIsOverTheLaterHalfOfTheWholeRun) {
  algorithm::Options o = options("newton", 8, "none");
  o.average = "yes";
  const Trial run(o, ring(4));
  Vector mean = Vector::Zero(features);  // of the points after rounds 5, 6 and 7: those of round 6 are asked for twice
  for (const int k : {6, 7, 8}) mean += InTwoParts(run, {}, k).starts[0].common->f / 3;
  EXPECT_LT((InTwoParts(run, {}, 6).rest.back()[0] - mean).norm(), 1e-9);
}

TEST(SumsContinuation, WithoutACompleteRoundNobodyGoesOn) {
  const Trial run(options("newton", 1, "gaussian", 2), ring(4));
  EXPECT_THROW(next_part(run.part, without(run.part, {1}, 1)), Error) << "one exchange, and not all have it";
  EXPECT_THAT(message_of([&] { next_part(run.part, without(run.part, {1}, 1)); }),
              testing::HasSubstr("no round of sums was complete, and nothing is left of what the study planned"));
  auto one_is_ahead = without(run.part, {1}, 1);
  one_is_ahead.released[0] = 2;
  EXPECT_THROW(next_part(run.part, one_is_ahead), Error);
  EXPECT_THROW(next_part(Trial(options("newton", 1, "none"), ring(4)).part, without(run.part, {1}, 1)), Error);
  EXPECT_NO_THROW(next_part(run.part, without(run.part, {1}, 0)));
  const InTwoParts both(run, {1}, 2);  // all who go on have the sums of all four: their model is that of the exchange
  EXPECT_EQ(both.rest[0][0], both.whole[2][0]);
  EXPECT_GT(both.rest[0][0].norm(), 0);
}

// Round 1 is paid and released; what is in it comes into the point when everybody's is here, with round 2.
TEST(SumsContinuation, ThereIsAModelOnceEverybodysSumsAreInThePoint) {
  const Trial run(options("newton", 8, "gaussian", 2), ring(4));
  const auto after = [&](int released) { return PartHistory{{.part = &run.part, .self = 0, .released = released}}; };
  EXPECT_FALSE(has_used_rows(after(0)));
  EXPECT_TRUE(has_used_rows(after(1)));
  EXPECT_FALSE(has_learnt(after(1)));
  EXPECT_TRUE(has_learnt(after(2)));
}

TEST(SumsContinuation, SeveralClassesAreNotCutInALaterPartEither) {
  algorithm::Options o = options("newton", 8, "gaussian", 2);
  o.loss = "softmax";
  const Trial run(o, ring(4));
  EXPECT_NO_THROW(next_part(run.part, without(run.part, {1}, 4)));
}

}  // namespace
}  // namespace parley::study
