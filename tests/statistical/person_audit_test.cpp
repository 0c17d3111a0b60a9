// The audit of docs/proofs/person.md, theorem P1: all rows of one person are replaced, and all push the same way. What is
// charged holds for them together, and is reached; a twin that charges the price of one row is refuted.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "cell.h"
#include "parley/audit/gaussian.h"
#include "parley/audit/sums.h"
#include "parley/privacy/gaussian.h"

namespace parley::audit {
namespace {

using algorithm::PrivateRound;
using algorithm::Schedule;

long person_runs() {
  return is_full() ? 100000 : is_short() ? 3000 : 8000;
}

void as_for_one_row(Schedule& s) {  // the noise that the same mu would need if it were for one row
  for (PrivateRound& r : s.private_rounds)
    for (double* scale : {&r.objective_scale, &r.output_scale, &r.gradient_scale, &r.curvature_scale})
      *scale /= static_cast<double>(s.rows_per_person);
}

TEST(PersonAudit, TheClaimHoldsForAllRowsOfAPersonTogetherAndIsReached) {
  for (const double mu : is_full() ? mus() : std::vector<double>{0.5, 2}) {
    for (const SumsOptions& o :
         {SumsOptions{.claim = mu, .records = 2, .rows_per_person = 2},
          SumsOptions{.rounds = 3, .claim = mu, .records = 10, .rows_per_person = 4},
          SumsOptions{.algorithm = "dp-gd", .rounds = 2, .claim = mu, .records = 3, .rows_per_person = 3}})
      expect_gaussian_to_hold(o.algorithm + ", " + std::to_string(o.rows_per_person) + " rows of a person",
                              make_sums_scene(o), mu, person_runs(), 31000, {.ratio = 0.8});
    for (const GaussianOptions& o :
         {GaussianOptions{.mu = mu, .ratio = 0.75, .records = 2, .rows_per_person = 2},
          GaussianOptions{.algorithm = "pvp", .noise_on = "output", .mu = mu, .records = 2, .rows_per_person = 2}})
      expect_gaussian_to_hold("theorem G and output, 2 rows of a person, noise on " + o.noise_on.text,
                              make_gaussian_scene(o), mu, person_runs(), 32000, {.ratio = 0.8});
  }
}

// One round of theorem G with two rows: δ(ε) of the two laws by integration, far into the tail.
TEST(PersonAudit, TwoRowsUnderTheoremGStayBelowTwiceItsMuAndTakeItUp) {
  for (const double mu : {0.5, 2.0}) {
    const Scene scene = make_gaussian_scene({.mu = mu, .ratio = 0.75, .records = 2, .rows_per_person = 2});
    const Excess excess = largest_excess(exact_profile(scene), scene.schedule.private_rounds[0].charge.mu);
    EXPECT_LE(excess.ratio, 1 + 1e-6) << "at epsilon " << excess.epsilon;
    EXPECT_GE(excess.ratio, 0.9);
    EXPECT_GT(largest_excess(exact_profile(scene), scene.schedule.private_rounds[0].charge.mu / 2).ratio, 2)
        << "the price of one row does not cover two";
  }
}

// Gamma noise: the log ratio of two worlds that differ in two rows, at every point, is at most twice what one row costs.
TEST(PersonAudit, PureNoiseHoldsForTwoRowsTogetherAtEveryPoint) {
  for (const double epsilon : {1.0, 3.0}) {
    SceneOptions o = with("dvp");
    o.epsilon = epsilon;
    o.records = o.rows_per_person = 2;
    const Scene scene = make_scene(o);
    const double largest = largest_ratio_on_a_grid(scene);
    EXPECT_LE(largest, epsilon);
    EXPECT_GT(largest, 0.75 * epsilon);
    expect_to_hold("gamma, 2 rows of a person", scene, epsilon, person_runs(), 33000, {.ratio = 0.5});
    Scene of_one_row = scene;  // the noise that the price of one row buys
    for (PrivateRound& r : of_one_row.schedule.private_rounds) {
      r.objective_rate *= 2;
      r.output_rate *= 2;
    }
    EXPECT_GT(largest_ratio_on_a_grid(of_one_row), 1.4 * epsilon) << "the price of one row does not cover two";
  }
}

TEST(BrokenPersonTwin, ThePriceOfOneRowForAPersonIsRefuted) {
  for (const long rows : {2L, 4L}) {
    const Scene sums = make_sums_scene({.claim = 1, .records = 4, .rows_per_person = rows});
    expect_gaussian_refuted("newton, the price of one row for " + std::to_string(rows), sums,
                            tampered(sums, as_for_one_row), 1, person_runs());
  }
  const Scene minimum = make_gaussian_scene({.mu = 1, .ratio = 0.75, .records = 2, .rows_per_person = 2});
  expect_gaussian_refuted("theorem G, the price of one row for two", minimum, tampered(minimum, as_for_one_row), 1,
                          person_runs());
}

}  // namespace
}  // namespace parley::audit
