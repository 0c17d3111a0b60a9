#include "parley/problem/row_sums.h"

#include <gtest/gtest.h>

#include "parley/base/parallel.h"
#include "parley/problem/rows_test.h"
#include "parley/problem/solve.h"

namespace parley::problem {
namespace {

TEST(RowSums, TheBitsDoNotDependOnThreads) {
  for (const double filled : {0.3, 1.0}) {
    const Rows rows = random_rows(40000, 12, filled, 5);
    const Problem p{.rows = &rows, .weight = 0.1, .regularization = 0.2};
    const Vector f = Vector::LinSpaced(12, -2, 3);
    Evaluation one, four;
    Matrix lower_one, lower_four;
    evaluate({&p, 1}, {.linear = Vector::Zero(12)}, f, one, &lower_one);
    parallel_for(1, 4, [&](int) {
      EXPECT_EQ(spare_threads(), 4);
      evaluate({&p, 1}, {.linear = Vector::Zero(12)}, f, four, &lower_four);
    });
    EXPECT_EQ(spare_threads(), 1);
    EXPECT_EQ(one.value, four.value);
    EXPECT_EQ(one.gradient, four.gradient);
    EXPECT_EQ(one.curvature, four.curvature);
    EXPECT_EQ(one.rounding, four.rounding);
    EXPECT_EQ(lower_one, lower_four);
  }
}

TEST(RowSums, OnePassGivesTheHessianThatASecondPassGives) {
  const Rows rows = random_rows(3000, 9, 0.6, 6);
  for (const Loss& loss : {Loss{}, Loss{.kind = LossKind::huber_hinge, .width = 0.5}}) {
    const Problem p{.rows = &rows, .loss = loss, .weight = 0.1, .regularization = 0.2};
    Evaluation at;
    Matrix together, after;
    evaluate({&p, 1}, {.linear = Vector::Zero(9), .quadratic = 0.3}, Vector::Ones(9), at, &together);
    hessian({&p, 1}, {.linear = Vector::Zero(9), .quadratic = 0.3}, at, after);
    for (Index j = 0; j < 9; ++j)
      for (Index i = j; i < 9; ++i) EXPECT_NEAR(together(i, j), after(i, j), 1e-10);
  }
}

TEST(Anchor, AHessianFromNearbySavesPassesAndGivesTheSameMinimum) {
  const Rows rows = random_rows(4000, 20, 0.5, 7);
  const Problem p{.rows = &rows, .weight = 0.5, .regularization = 0.1};
  const Proximal terms{.linear = Vector::LinSpaced(20, -3, 3), .quadratic = 4};
  const Vector best = argmin(p, terms, Vector::Zero(20), {.tolerance = 1e-9}).f;
  const Vector start = best + 0.05 * Vector::Ones(20);
  Anchor anchor;
  anchor.move_to(best + 0.06 * Vector::Ones(20));
  const auto passes = [&](const SolveOptions& o) {
    const auto before = passes_so_far().count;
    EXPECT_LT((argmin(p, terms, start, o).f - best).norm(), 1e-8);
    return passes_so_far().count - before;
  };
  passes({.tolerance = 1e-8, .anchor = &anchor});  // finds the Hessian
  EXPECT_TRUE(anchor.known);
  const Matrix kept = anchor.loss_hessian;
  passes({.tolerance = 1e-8, .anchor = &anchor});
  EXPECT_EQ(anchor.loss_hessian, kept);
  // The bits follow from the anchor's point, not from whether its Hessian was still there.
  Anchor again;
  again.move_to(anchor.point);
  EXPECT_EQ(argmin(p, terms, start, {.tolerance = 1e-8, .anchor = &anchor}).f,
            argmin(p, terms, start, {.tolerance = 1e-8, .anchor = &again}).f);
  for (Anchor* a : {&anchor, &again}) a->move_to(start);
  argmin(p, terms, start, {.tolerance = 1e-8, .anchor = &anchor});
  EXPECT_EQ(argmin(p, terms, start, {.tolerance = 1e-8, .anchor = &anchor}).f,
            argmin(p, terms, start, {.tolerance = 1e-8, .anchor = &again}).f);
  // Nor on the penalty of the round that found it.
  for (Anchor* a : {&anchor, &again}) a->move_to(start + 0.001 * Vector::Ones(20));
  argmin(p, {.linear = terms.linear, .quadratic = 1.3}, start, {.tolerance = 1e-8, .anchor = &anchor});
  EXPECT_EQ(argmin(p, terms, start, {.tolerance = 1e-8, .anchor = &anchor}).f,
            argmin(p, terms, start, {.tolerance = 1e-8, .anchor = &again}).f);
  EXPECT_EQ(anchor.loss_hessian, again.loss_hessian);
  anchor.move_to(best + Vector::Ones(20));  // out of reach: not used
  EXPECT_FALSE(Anchor::near(anchor.point, start));
  passes({.tolerance = 1e-8, .anchor = &anchor});
  EXPECT_FALSE(anchor.known);
}

}  // namespace
}  // namespace parley::problem
