// The final round: its numbers by hand (Python, in the comment of each), its plan, its price, and that without noise it
// ends at the fit without penalty.
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <cmath>

#include "parley/algorithm/newton/intervals_plan.h"
#include "parley/algorithm/newton/newton.h"
#include "parley/algorithm/newton/newton_sums.h"
#include "parley/base/message_test.h"
#include "parley/privacy/gaussian.h"
#include "parley/privacy/sums_round.h"
#include "parley/problem/rows_test.h"

namespace parley::algorithm::newton {
namespace {

using testing::HasSubstr;

Matrix symmetric(double a, double b, double c) {
  Matrix m(2, 2);
  m << a, b, b, c;
  return m;
}

FinalSums sums_by_hand(double g0, double g1) {
  return {.hessian = symmetric(0.21, 0.03, 0.12), .spread = symmetric(0.2, 0.02, 0.13), .gradient = Vector{{g0, g1}}};
}

constexpr FinalNoise noise_by_hand{.hessian = 20, .spread = 60, .gradient = 35};

// n = 5000, s_H = 20/n, sigma = 35/n; D = -inv(H) g; P = s_H²/2 (D Dᵀ + |D|² I) + sigma² I; V = inv(H) (J/n + P) inv(H)
TEST(FinalRound, GivesTheStepAndTheVarianceComputedByHand) {
  const Estimate e = estimate({.noise = noise_by_hand}, 5000, Vector{{0.3, -0.4}}, sums_by_hand(0.05, -0.03),
                              symmetric(0.9, 0.1, 0.5));
  EXPECT_NEAR(e.value[0], 0.016049382716049332, 1e-14);
  EXPECT_NEAR(e.value[1], -0.07901234567901233, 1e-14);
  EXPECT_NEAR(e.variance(0, 0), 0.0022998869066008544, 1e-16);
  EXPECT_NEAR(e.variance(0, 1), -0.0012355703004649304, 1e-16);
  EXPECT_NEAR(e.sampling(0, 0), 0.0009663161103490325, 1e-16);
  EXPECT_NEAR(e.departure, 0.10286864504731966, 1e-14);
  EXPECT_NEAR(e.smallest, 0.11091673086804016, 1e-14);
  EXPECT_NEAR(e.needed, 0.012, 1e-15);
  const Combination c = combination(e, Vector{{1, -1}});
  EXPECT_NEAR(c.value, 0.09506172839506166, 1e-14);
  EXPECT_NEAR(c.standard_error, 0.103017850687501, 1e-14);
  EXPECT_FALSE(c.identified) << "0.0721 is left out, more than half of the standard error";
  EXPECT_TRUE(combination(estimate({.noise = noise_by_hand}, 5000, Vector{{0.3, -0.4}}, sums_by_hand(0.004, -0.003),
                                   symmetric(0.9, 0.1, 0.5)),
                          Vector{{1, -1}})
                  .identified);
}

TEST(FinalRound, OfTheSquaredLossTakesTheResidualsFromTheLabels) {
  FinalSums sums = sums_by_hand(-0.05, 0.02);
  sums.spread = {};
  sums.square = 0.2;
  const Estimate e =
      estimate({.noise = noise_by_hand, .loss = {.kind = problem::LossKind::squared}}, 5000, Vector::Zero(2), sums, {});
  EXPECT_NEAR(e.value[0], 0.271604938271605, 1e-14);
  EXPECT_NEAR(e.value[1], -0.23456790123456794, 1e-14);
  EXPECT_NEAR(e.variance(0, 0), 0.001497761203414309, 1e-16);
  EXPECT_NEAR(e.variance(1, 1), 0.004172641921646019, 1e-16);
  sums.square = 0.001;  // less than the fit explains
  EXPECT_FALSE(combination(estimate({.noise = noise_by_hand, .loss = {.kind = problem::LossKind::squared}}, 5000,
                                    Vector::Zero(2), sums, {}),
                           Vector{{1, 0}})
                   .identified);
}

TEST(FinalRound, IdentifiesNothingWhereTheHessianIsNoLargerThanItsNoise) {
  const Estimate e = estimate({.noise = FinalNoise{.hessian = 200, .gradient = 35}}, 5000, Vector::Zero(2),
                              sums_by_hand(0, 0), symmetric(0.9, 0.1, 0.5));  // 1.5·2·200/5000 = 0.12 > 0.111
  EXPECT_FALSE(e.curved());
  EXPECT_FALSE(combination(e, Vector{{1, 0}}).identified);
  EXPECT_TRUE(e.value.allFinite());
}

// sqrt((2(1 + e)/40)² + ((√2/4 + 2e_S)/30)² + ((√2 + 2e_S)/90)²), e = 1e-6, e_S = 1e-9; and with squares
TEST(FinalRound, CostsWhatIsComputedByHandRoundedUp) {
  const privacy::SumsRound logistic{.gradient_bound = 1,
                                    .gradient_scale = 40,
                                    .tolerance = 1e-6,
                                    .curvature_tolerance = 1e-9,
                                    .hessian_bound = 0.25,
                                    .hessian_scale = 30,
                                    .spread_scale = 90};
  EXPECT_NEAR(privacy::sums_mu(logistic), 0.053719712130725607, 1e-16);
  EXPECT_GE(privacy::sums_mu(logistic), 0.0537197121307256);
  EXPECT_NEAR(privacy::sums_mu({.gradient_bound = 1,
                                .gradient_scale = 40,
                                .tolerance = 1e-6,
                                .curvature_tolerance = 1e-9,
                                .hessian_bound = 1,
                                .hessian_scale = 30,
                                .square_scale = 50}),
              0.07156973683135992, 1e-16);
}

Options with_intervals(const std::string& loss = "logistic") {
  Options o{.algorithm = "newton", .loss = loss};
  o.intervals = true;
  return o;
}

Setting three_parties() {
  return {.degree = {2, 2, 2}, .records = {400, 250, 300}, .features = 6};
}

Estimate run(const Plan& plan, const std::vector<data::Rows>& rows) {
  const Terms& terms = *plan.nodes.front().sums;
  State state = start(terms);
  for (int round = 1; round <= terms.rounds; ++round) {
    Vector total = Vector::Zero(terms.layout(round).size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Schedule& s = plan.nodes[i];
      auto random = privacy::Random::seeded(1, i, static_cast<std::uint64_t>(round), "noise");
      total += noisy_sums({.rows = &rows[i], .loss = s.summed_loss(), .weight = 1}, state.f, terms.layout(round), s,
                          s.private_round(round), random);
    }
    state.round = round;
    state = after(std::move(state), terms, total);
  }
  return *state.estimate;
}

std::vector<data::Rows> rows_of_three(bool regression = false) {
  std::vector<data::Rows> rows;
  for (const int i : {0, 1, 2})
    rows.push_back(problem::random_rows(static_cast<std::size_t>(three_parties().records[static_cast<std::size_t>(i)]),
                                        6, 0.8, static_cast<unsigned>(i + 1), regression));
  return rows;
}

// Cutting at 0.2 and λ = 0.01 pull the first half of the rounds away; the fit has neither.
TEST(FinalRound, WithoutNoiseEndsAtTheFitWithoutPenaltyWhateverCutTheFirstRounds) {
  Options o = with_intervals();
  o.clip = 0.2;
  o.regularization = 0.01 * o.loss_weight * 3;
  o.rounds = 60;
  const auto rows = rows_of_three();
  const Estimate e = run(make_plan(o, three_parties()), rows);
  Vector slope = Vector::Zero(6);
  for (const data::Rows& r : rows)
    slope += problem::loss_gradient({.rows = &r, .loss = {}, .weight = 1.0 / 950}, e.value);
  EXPECT_LT(slope.norm(), 1e-7);
  EXPECT_TRUE(combination(e, Vector::Unit(6, 0)).identified);
}

TEST(FinalRound, WithoutNoiseTheSquaredLossEndsAtLeastSquares) {
  const auto rows = rows_of_three(true);
  const Estimate e = run(make_plan(with_intervals("squared"), three_parties()), rows);
  Matrix h = Matrix::Zero(6, 6);
  Vector b = Vector::Zero(6);
  double left = 0;
  for (const int pass : {0, 1})
    for (const data::Rows& r : rows)
      for (std::size_t n = 0; n < r.count(); ++n) {
        Vector x = Vector::Zero(6);
        for (std::size_t k = r.start[n]; k < r.start[n + 1]; ++k) x[r.column[k]] = r.value[k];
        if (pass == 0) h += x * x.transpose(), b += r.label[n] * x;
        if (pass == 1) left += std::pow(r.label[n] - x.dot(e.value), 2);
      }
  EXPECT_LT((e.value - h.ldlt().solve(b)).norm(), 1e-9);
  EXPECT_NEAR(e.variance(0, 0), left / 950 * h.inverse()(0, 0), 1e-9) << "the usual standard error, but for n - d";
}

TEST(PlanOfIntervals, StaysWithinTheBudgetWithAndWithoutSharedNoise) {
  for (const char* loss : {"logistic", "squared"})
    for (const bool shared : {false, true}) {
      Options o = with_intervals(loss);
      o.epsilon = {1};
      if (shared) o.colluders = 1;
      const Plan plan = make_plan(o, three_parties());
      EXPECT_LE(plan.epsilon(), 1);
      EXPECT_GT(plan.epsilon(), 1 - 1e-6);
      EXPECT_EQ(plan.epsilon_all_others() > 1.2, shared);
      const Terms& terms = *plan.nodes.front().sums;
      EXPECT_EQ(terms.rounds, std::string(loss) == "squared" ? 1 : 33);
      EXPECT_EQ(plan.size(0, static_cast<int>(terms.rounds), 6),
                std::string(loss) == "squared" ? 21 + 1 + 6 : 21 + 21 + 6);
      EXPECT_EQ(plan.size(0, static_cast<int>(terms.rounds) + 1, 6), 6) << "the model";
      EXPECT_EQ(plan.largest_size(6), plan.size(0, static_cast<int>(terms.rounds), 6));
    }
}

TEST(PlanOfIntervals, RefusesWhatHasNone) {
  const auto refusal = [](auto change) {
    Options o = with_intervals();
    o.epsilon = {1};
    change(o);
    return message_of([&] { make_plan(o, three_parties()); });
  };
  EXPECT_THAT(refusal([](Options& o) { o.algorithm = "mr-admm"; }), HasSubstr("need sums over rows"));
  EXPECT_THAT(refusal([](Options& o) { o.algorithm = "dp-gd"; }), HasSubstr("allowed: newton"));
  EXPECT_THAT(refusal([](Options& o) { o.loss = "huber"; }), HasSubstr("allowed: logistic, squared"));
  EXPECT_THAT(refusal([](Options& o) { o.regularizer = "l1"; }), HasSubstr("without a penalty"));
  EXPECT_THAT(refusal([](Options& o) { o.curvature = "diagonal"; }), HasSubstr("all second moments"));
  EXPECT_THAT(refusal([](Options& o) { o.loss = "squared", o.rounds = 4; }), HasSubstr("one exchange"));
  EXPECT_THAT(refusal([](Options& o) { o.loss = "squared", o.clip = 0.5; }), HasSubstr("option --clip"));
  EXPECT_THAT(refusal([](Options& o) { o.loss = "squared", o.regularization = 1; }), HasSubstr("--regularization"));
  EXPECT_THAT(refusal([](Options& o) { o.algorithm = "mr-admm", o.loss = "squared", o.intervals = false; }),
              HasSubstr("use --loss huber"));
}

}  // namespace
}  // namespace parley::algorithm::newton
