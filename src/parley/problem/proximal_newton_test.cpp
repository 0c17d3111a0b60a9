#include "parley/problem/proximal_newton.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "parley/base/error.h"
#include "parley/problem/metrics.h"
#include "parley/problem/rows_test.h"

namespace parley::problem {
namespace {

const std::vector<Loss> losses = {{.kind = LossKind::logistic},
                                  {.kind = LossKind::huber_hinge, .width = 0.5},
                                  {.kind = LossKind::huber, .width = 0.3},
                                  {.kind = LossKind::softmax, .classes = 3}};

Rows rows_for(const Loss& loss, std::size_t count, Index features, double filled, unsigned seed) {
  return loss.kind == LossKind::softmax ? random_class_rows(count, features, filled, seed, loss.classes)
                                        : random_rows(count, features, filled, seed, !loss.classifies());
}

// f* has zeros; the linear term makes −∇S(f*) = l1·s with s = sign(f*) where f* ≠ 0 and |s| < 1 strictly elsewhere.
TEST(ProximalNewton, FindsAMinimumWithZerosThatWasBuiltBackwards) {
  std::mt19937 draw(7);
  std::uniform_real_distribution<double> inside(-0.9, 0.9);
  for (const Loss& loss : losses)
    for (const double quadratic : {0.5, 0.0}) {
      const Rows rows = rows_for(loss, 200, 24, 0.4, 2);
      Problem p{.rows = &rows, .loss = loss, .weight = 1.0 / 200, .regularization = 0.01};
      Vector known = Vector::LinSpaced(p.dimension(), -2, 3), s = known.cwiseSign();
      for (Index j = 0; j < known.size(); j += 2) known[j] = 0, s[j] = inside(draw);
      Vector linear = -gradient(p, known) - quadratic * known;
      p.l1 = 0.02;
      linear -= p.l1 * s;
      const Proximal proximal{.linear = linear, .quadratic = quadratic};
      const Solution found = argmin(p, proximal, Vector::Zero(known.size()), {.tolerance = 1e-12});
      EXPECT_LT((found.f - known).norm(), 1.1e-12 / (0.01 + quadratic)) << name_of(loss);
      EXPECT_LE(found.certificate.bound(), 1e-12);
      for (Index j = 0; j < known.size(); j += 2) EXPECT_EQ(found.f[j], 0) << "a zero of the minimum is exactly zero";
    }
}

TEST(ProximalNewton, EveryNoisyRoundOfEveryLossIsCertified) {
  const int draws = std::getenv("PARLEY_TEST_SHORT") ? 10 : 100;
  std::mt19937 draw(9);
  for (const Loss& loss : losses) {
    const Rows rows = rows_for(loss, 240, 30, 0.25, 8);
    const double weight = 200.0 / 240;
    const Problem p{.rows = &rows, .loss = loss, .weight = weight, .regularization = 0.044, .l1 = 3};
    Vector f = Vector::Zero(p.dimension());
    for (int i = 0; i < draws; ++i) {
      const Proximal proximal{.linear = random_vector(f.size(), 15, draw) - 4 * f, .quadratic = 4};
      const Solution s = argmin(p, proximal, f, {.tolerance = 1e-6 * weight});
      EXPECT_LE(s.certificate.bound(), 1e-6 * weight);
      f = s.f;
    }
  }
}

// What star-admm and the yardstick ask for: little curvature, 1e-9 and 1e-11 of weight · rows.
TEST(ProximalNewton, ReachesARelativeToleranceOf1e11WithHardlyAnyRegularisation) {
  for (const Loss& loss : losses)
    for (const double l1 : {1e-4, 1e-2, 1.0, 1e3}) {
      const Rows rows = rows_for(loss, 1000, 40, 0.5, 3);
      const Problem p{.rows = &rows, .loss = loss, .weight = 1.75, .regularization = 1e-3, .l1 = l1};
      const Solution s = centralised_optimum({&p, 1}, {.tolerance = 1e-11 * 1750});
      EXPECT_LE(s.certificate.bound(), 1e-11 * 1750) << name_of(loss) << " " << l1;
      EXPECT_EQ(s.f.norm() == 0, l1 == 1e3) << name_of(loss);
    }
}

TEST(ProximalNewton, TheL1TermsOfPooledPartsAdd) {
  const Rows a = random_rows(100, 8, 0.7, 6), b = random_rows(40, 8, 0.7, 7);
  std::vector<Problem> parts = {{.rows = &a, .weight = 0.3, .regularization = 0.2, .l1 = 1.5},
                                {.rows = &b, .weight = 2.0, .regularization = 0.2, .l1 = 0.5}};
  const Vector apart = centralised_optimum(parts, {.tolerance = 1e-10}).f;
  parts[0].l1 = 0;
  parts[1].l1 = 2;
  EXPECT_LT((centralised_optimum(parts, {.tolerance = 1e-10}).f - apart).norm(), 1e-9);
  EXPECT_GT(apart.norm(), 0);
}

TEST(ProximalNewton, L1AloneWithFlatDirectionsStillHasAYardstick) {  // two equal columns, and one that never occurs
  const Rows half = random_rows(200, 3, 0.9, 8);
  Rows rows;
  rows.features = 5;
  for (std::size_t n = 0; n < half.count(); ++n) {
    std::vector<double> x(4, 0);
    for (std::size_t k = half.start[n]; k < half.start[n + 1]; ++k)
      x[static_cast<std::size_t>(half.column[k])] = half.value[k] / 2;
    x[3] = x[2];
    rows.append(std::vector<std::int32_t>{0, 1, 2, 3}, x, half.label[n]);
  }
  const Problem p{.rows = &rows, .weight = 1, .l1 = 0.1};
  const Solution best = centralised_optimum({&p, 1}, {.tolerance = 1e-7});
  EXPECT_LE(best.certificate.bound(), 1e-7);
  EXPECT_EQ(best.f[4], 0);
  EXPECT_GT(best.f.norm(), 0);
}

TEST(ProximalNewton, TheCertificateIsTheShortestSubgradientAndRefusesWrongPoints) {
  const Rows rows = random_rows(300, 10, 0.6, 4);
  const Problem p{.rows = &rows, .weight = 0.1, .regularization = 0.5, .l1 = 1};
  const Proximal none{.linear = Vector::Zero(10)};
  const Vector best = argmin(p, none, Vector::Zero(10), {.tolerance = 1e-10}).f;
  EXPECT_GT((best.array() == 0).count(), 0);
  EXPECT_GT((best.array() != 0).count(), 0);
  for (Index j = 0; j < 10; ++j)
    for (const double by : {1e-3, -1e-3}) {
      const Vector wrong = best + by * Vector::Unit(10, j);
      EXPECT_GE(certify({&p, 1}, none, wrong).bound(), 0.5 * 1e-3);  // κ · distance
    }
  const Vector g{{2, -2, 0.5, -0.5, 1, 1}}, f{{0, 0, 0, 0, 3, -3}};
  EXPECT_EQ(shortest_subgradient(g, f, 1), (Vector{{1, -1, 0, 0, 2, 0}}));
}

TEST(ProximalNewton, MoreWeightsThanAPlanAllowsAreABug) {
  Rows rows;
  rows.features = 6000;
  rows.append({}, {}, 1);
  const Problem p{.rows = &rows, .weight = 1, .regularization = 1, .l1 = 1};
  const Vector zero = Vector::Zero(6000);
  EXPECT_THAT([&] { argmin(p, {.linear = zero}, zero, {}); },
              testing::ThrowsMessage<std::logic_error>(testing::HasSubstr("than a plan allows")));
}

TEST(Hinge, IsRefusedByTheSolverWithTheReason) {
  const Rows rows = random_rows(10, 3, 1, 1);
  const Problem p{.rows = &rows, .loss = {.kind = LossKind::hinge}, .weight = 1, .regularization = 1};
  EXPECT_THAT([&] { argmin(p, {.linear = Vector::Zero(3)}, Vector::Zero(3), {}); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("huber-hinge")));
}

double hinge_objective(const Problem& p, const Vector& f) {
  return p.weight * static_cast<double>(p.rows->count()) * mean_loss(*p.rows, p.loss, f) +
         0.5 * p.regularization * f.squaredNorm() + p.l1 * f.lpNorm<1>();
}

// With two rows the minimum is known: f = 1 exactly, at the kink, as long as ρ < 2·weight.
TEST(Hinge, TheYardstickIsWithinAQuarterOfTheLastWidth) {
  Rows two;
  two.features = 1;
  for (const double y : {-1.0, 1.0}) two.append(std::vector<std::int32_t>{0}, std::vector<double>{y}, y);
  const Problem known{.rows = &two, .loss = {.kind = LossKind::hinge}, .weight = 0.5, .regularization = 0.4};
  EXPECT_NEAR(centralised_optimum({&known, 1}, {}).f[0], 1, hinge_width);
  std::mt19937 draw(3);
  for (const double l1 : {0.0, 0.01})
    for (const double regularization : {1e-1, 1e-3, 1e-5}) {
      const Rows rows = random_rows(2000, 30, 0.5, 11);
      const Problem p{.rows = &rows,
                      .loss = {.kind = LossKind::hinge},
                      .weight = 1.0 / 2000,
                      .regularization = regularization,
                      .l1 = l1};
      const Solution s = centralised_optimum({&p, 1}, {.tolerance = 1e-11});
      EXPECT_LE(s.certificate.bound(), hinge_tolerance);
      const double found = hinge_objective(p, s.f);
      for (int i = 0; i < 200; ++i)  // nobody around is better by more than the stated gap
        EXPECT_GT(hinge_objective(p, s.f + random_vector(30, std::pow(10, -1 - i % 6), draw)),
                  found - hinge_width / 4 - 1e-9);
    }
}

}  // namespace
}  // namespace parley::problem
