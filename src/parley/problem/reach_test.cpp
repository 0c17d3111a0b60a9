// The public numbers that decide whether a private round goes on: they hold for every row, and the solver always gets
// there.
#include "parley/problem/reach.h"

#include <gtest/gtest.h>

#include "parley/problem/rows_test.h"
#include "parley/problem/solve.h"

namespace parley::problem {
namespace {

const std::vector<Loss> certified_losses = {{.kind = LossKind::logistic},
                                            {.kind = LossKind::huber_hinge, .width = 0.5},
                                            {.kind = LossKind::huber, .width = 0.3},
                                            {.kind = LossKind::softmax, .classes = 4},
                                            {.kind = LossKind::logistic, .class_weights = {1, 20}},
                                            {.kind = LossKind::softmax, .classes = 3, .class_weights = {1, 20, 3}}};

Rows rows_like(const Loss& loss, std::size_t count, Index features, double filled) {
  return loss.kind == LossKind::softmax ? random_class_rows(count, features, filled, 1, loss.classes)
                                        : random_rows(count, features, filled, 1, !loss.classifies());
}

// The gradient of J in long double, term by term.
std::vector<long double> exact_gradient(const Problem& p, const Proximal& terms, const Vector& f) {
  std::vector<long double> g;
  for (Index j = 0; j < f.size(); ++j)
    g.push_back((static_cast<long double>(p.regularization) + terms.quadratic) * f[j] + terms.linear[j]);
  for (std::size_t n = 0; n < p.rows->count(); ++n) {
    long double z = 0;
    for (std::size_t k = p.rows->start[n]; k < p.rows->start[n + 1]; ++k)
      z += static_cast<long double>(p.rows->value[k]) * f[p.rows->column[k]];
    const long double y = p.rows->label[n], slope = -y / (1 + std::exp(y * z));
    for (std::size_t k = p.rows->start[n]; k < p.rows->start[n + 1]; ++k)
      g[static_cast<std::size_t>(p.rows->column[k])] += p.weight * slope * p.rows->value[k];
  }
  return g;
}

TEST(Reach, BoundsTheMinimumAndTheRoundingOfItsGradientForAnyRows) {
  std::mt19937 draw(3);
  for (const double far : {0.0, 1.0, 1e3, 1e5})
    for (const double filled : {0.05, 1.0}) {
      const Rows rows = rows_like(certified_losses[0], 400, 40, filled);
      const Problem p{.rows = &rows, .loss = certified_losses[0], .weight = 0.2, .regularization = 0.1};
      const Proximal terms{.linear = random_vector(40, 0.3 * far, draw), .quadratic = 0.5};
      const double tolerance = 1e-3 * p.weight;
      const Reach r = reach(sizes_of(p), terms.linear.norm(), 0.6, tolerance);
      const Vector f = argmin(p, terms, Vector::Zero(40), {.tolerance = tolerance, .reach = &r}).f;
      EXPECT_LE(f.norm(), r.radius);
      Evaluation at;
      evaluate({&p, 1}, terms, f, at);
      const auto exact = exact_gradient(p, terms, f);
      long double square = 0;
      for (Index j = 0; j < f.size(); ++j) square += std::pow(exact[static_cast<std::size_t>(j)] - at.gradient[j], 2);
      EXPECT_LE(std::sqrt(square), static_cast<long double>(r.rounding)) << far << " " << filled;
    }
}

TEST(Reach, WithinABoundCoversEveryMinimumThere) {
  for (const Loss& loss : certified_losses) {
    const Rows rows = rows_like(loss, 300, 12, 0.5);
    const Problem p{.rows = &rows, .loss = loss, .weight = 0.5, .regularization = 0.2};
    const Sizes sizes = sizes_of(p);
    const Reach most = reach_within(sizes, 100, 0, 1.2, 1e-6);
    std::mt19937 draw(5);
    for (int i = 0; i < 50; ++i) {
      Vector f = random_vector(p.dimension(), 1, draw);
      f *= 100 / f.cwiseAbs().maxCoeff();           // a coordinate at the bound
      const Vector linear = -(gradient(p, f) + f);  // f is the minimum of O + lᵀf + ½‖f‖²
      const Reach here = reach(sizes, linear.norm(), 1.2, 1e-6);
      EXPECT_LE(f.norm(), here.radius) << name_of(loss);
      EXPECT_LE(here.radius, most.radius) << name_of(loss);
      EXPECT_LE(here.rounding, most.rounding) << name_of(loss);
    }
  }
}

// Newton's method and, by itself, the descent that takes over where it stalls: to the smallest tolerance that is
// promised, from near and from far outside the radius.
TEST(Reach, TheSmallestTolerancePromisedIsMetForAllLosses) {
  for (const Loss& loss : certified_losses)
    for (const double l1 : {0.0, 0.3})
      for (const double far : {1.0, 1e3}) {
        const Rows rows = rows_like(loss, 200, 8, 0.7);
        const Problem p{.rows = &rows, .loss = loss, .weight = 0.05, .regularization = 0.2, .l1 = l1};
        std::mt19937 draw(7);
        const Proximal terms{.linear = random_vector(p.dimension(), far, draw), .quadratic = 3};
        const Reach r = reach(sizes_of(p), terms.linear.norm(), 3.2, 1e-3);
        const SolveOptions options{.tolerance = certifiable_tolerance(sizes_of(p), r), .reach = &r};
        EXPECT_LT(options.tolerance, 1e-3);
        const Solution newton = argmin(p, terms, Vector::Zero(p.dimension()), options),
                       slow = descend({&p, 1}, terms, random_vector(p.dimension(), 1e6, draw), options);
        EXPECT_LE(newton.certificate.bound(), options.tolerance) << name_of(loss) << l1;
        EXPECT_LE(slow.certificate.bound(), options.tolerance) << name_of(loss) << l1;
        EXPECT_EQ(newton.certificate.rounding, r.rounding) << "a public number";
        EXPECT_LE((newton.f - slow.f).norm(), 2 * options.tolerance / 3.2);
      }
}

TEST(Reach, ASolverThatIsStoppedEarlyGoesOnByDescent) {
  const Rows rows = random_rows(300, 10, 0.6, 2);
  const Problem p{.rows = &rows, .loss = {.kind = LossKind::logistic}, .weight = 0.1, .regularization = 0.5};
  const Proximal terms{.linear = Vector::Constant(10, 4.0), .quadratic = 1};
  const Reach r = reach(sizes_of(p), terms.linear.norm(), 1.5, 1e-7);
  const Solution s =
      argmin(p, terms, Vector::Constant(10, 50.0), {.tolerance = 1e-7, .max_iterations = 1, .reach = &r});
  EXPECT_LE(s.certificate.bound(), 1e-7);
  EXPECT_THROW(argmin(p, terms, Vector::Constant(10, 50.0), {.tolerance = 1e-7, .max_iterations = 1}), Uncertified);
}

}  // namespace
}  // namespace parley::problem
