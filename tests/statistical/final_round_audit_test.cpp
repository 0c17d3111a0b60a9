// The audit of the final round (docs/check/newton.md, theorem N2), the law of its noise, and broken twins. Each of its vectors
// keeps its own price, and all together theirs. What a row adds is written here from the equations, not by the product.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "checks.h"
#include "parley/algorithm/newton/newton_sums.h"
#include "parley/algorithm/private_update.h"
#include "parley/privacy/gaussian.h"

namespace parley::audit::final_round {
namespace {

using algorithm::PrivateRound;
using algorithm::Schedule;

struct Row {
  Vector x;
  double y = 1;
};

// Two worlds of one row at the point f of the final round.
struct Final {
  std::string loss = "logistic";
  Vector f = Vector::Zero(2);
  std::array<Row, 2> row;
  double mu = 1;  // of the whole run

  Schedule schedule() const {
    algorithm::Options o;
    o.algorithm = "newton";
    o.intervals = true;
    o.loss = loss;
    o.epsilon = {privacy::gdp_epsilon(mu, 1e-5)};
    o.delta = 1e-5;
    return algorithm::make_plan(o, {.degree = {1, 1}, .records = {1, 1}, .features = 2}).nodes[0];
  }
};

enum Part { hessian, spread, square, gradient, parts };
const std::array<const char*, parts> part_names{"Hessian", "spread", "squares", "gradient"};

struct Piece {  // of a release
  Index at = 0, size = 0;
  double scale = 0;
};

std::array<Piece, parts> pieces(const Schedule& s) {
  const PrivateRound& r = s.private_rounds.back();
  const bool squared = s.loss.kind == problem::LossKind::squared;
  const Index j = squared ? 0 : 3, y = squared ? 1 : 0;
  return {Piece{0, 3, r.hessian_scale}, Piece{3, j, r.spread_scale}, Piece{3 + j, y, r.square_scale},
          Piece{3 + j + y, 2, r.gradient_scale}};
}

Vector products(double w, const Vector& x) {
  return Vector{{w * x[0] * x[0], std::numbers::sqrt2 * w * x[0] * x[1], w * x[1] * x[1]}};
}

Vector bare(const Final& of, int world) {
  const Row& r = of.row[static_cast<std::size_t>(world)];
  const double z = of.f.dot(r.x);
  if (of.loss == "squared") {
    Vector sums(6);
    sums << products(1, r.x), r.y * r.y, (z - r.y) * r.x;
    return sums;
  }
  const double slope = -r.y / (1 + std::exp(r.y * z));
  Vector sums(8);
  sums << products(1 / (1 + std::exp(z)) / (1 + std::exp(-z)), r.x), products(slope * slope, r.x), slope * r.x;
  return sums;
}

// What a faulty product would have released, and what the attacker makes of it.
using Change =
    std::function<void(Vector& value, const Schedule& s, const Final& of, int world, privacy::Random& random)>;

struct Examined {
  double bound = 0, estimate = 0;
};

// The log likelihood ratio of one vector, or of all.
Examined examine(const Final& of, const Schedule& runs, std::optional<Part> part, const Change& change = {}) {
  const std::size_t count = is_full() ? 100000 : is_short() ? 2000 : 6000;
  const Schedule planned = of.schedule();
  const auto all = pieces(planned);
  std::array<data::Rows, 2> rows;
  for (std::size_t w : {0U, 1U}) {
    rows[w].features = 2;
    const std::array<std::int32_t, 2> columns{0, 1};
    const std::array<double, 2> values{of.row[w].x[0], of.row[w].x[1]};
    rows[w].append(columns, values, of.row[w].y);
  }
  const auto sample = [&](std::size_t world, std::uint64_t seed) {
    privacy::Random random = privacy::Random::seeded(seed, 0, 0, "final round");
    const problem::Problem p{.rows = &rows[world], .loss = runs.summed_loss(), .weight = 1};
    Vector value = algorithm::newton::noisy_sums(p, of.f, runs.sums->layout(runs.sums->rounds), runs,
                                                 runs.private_rounds.back(), random) *
                   runs.sums->unit;
    if (change) change(value, runs, of, static_cast<int>(world), random);
    double ratio = 0;
    const Vector in_0 = value - bare(of, 0), in_1 = value - bare(of, 1);
    for (int k = 0; k < parts; ++k) {
      const Piece& piece = all[static_cast<std::size_t>(k)];
      if (piece.size == 0 || (part && *part != k)) continue;
      ratio += (in_1.segment(piece.at, piece.size).squaredNorm() - in_0.segment(piece.at, piece.size).squaredNorm()) /
               (2 * piece.scale * piece.scale);
    }
    return ratio;
  };
  std::array<std::vector<double>, 4> samples;
  std::uint64_t seed = 1;
  for (std::size_t k = 0; k < 4; ++k)
    for (std::size_t n = 0; n < count; ++n) samples[k].push_back(sample(k % 2, ++seed));
  const MuCut cut = choose_mu_cut(samples[0], samples[1], 1e-3);
  const Moments a = moments(samples[2]), b = moments(samples[3]);
  return {.bound = mu_lower_bound(cut.threshold, samples[2], samples[3], 1e-3),
          .estimate = (a.mean - b.mean) / std::sqrt((a.variance + b.variance) / 2)};
}

// What the plan charges for it.
double claim(const Schedule& s, std::optional<Part> part) {
  const PrivateRound& r = s.private_rounds.back();
  if (!part) return r.charge.mu;
  const double c1 = s.loss.kind == problem::LossKind::squared ? 1 : 0.25, root = std::numbers::sqrt2;
  return *part == hessian  ? root * c1 / r.hessian_scale
         : *part == spread ? root / r.spread_scale
         : *part == square ? 1 / r.square_scale
                           : (2 + 2 * s.tolerance) / r.gradient_scale;
}

const Row along{Vector{{1, 0}}}, across{Vector{{0, 1}}}, against{Vector{{1, 0}}, -1}, empty{Vector{{1, 0}}, 0};
const Vector far{{-800.0, -800.0}};  // there slopes are 1

struct Cell {
  std::string name;
  Final of;
  std::optional<Part> part;
  double reach = 0.9;  // of the claim
};

std::vector<Cell> cells() {
  return {{"Hessian", {.row = {along, across}}, hessian},
          {"spread", {.f = far, .row = {along, across}}, spread},
          {"gradient, all slopes 1",
           {.f = Vector{{0.0, -800.0}}, .row = {Row{Vector{{0.9999, 0.014}}}, Row{Vector{{-0.9999, 0.014}}}}},
           gradient},
          {"all at 0", {.row = {along, across}}, std::nullopt, 0},
          {"all far out", {.f = far, .row = {along, across}}, std::nullopt, 0},
          {"squared, Hessian", {.loss = "squared", .row = {along, across}}, hessian},
          {"squared, labels", {.loss = "squared", .row = {along, against}}, gradient},
          {"squared, squares", {.loss = "squared", .row = {along, empty}}, square},
          {"squared, all", {.loss = "squared", .row = {along, against}}, std::nullopt, 0}};
}

TEST(FinalRoundAudit, EachOfItsVectorsKeepsItsPriceAndAllTogetherTheirs) {
  for (Cell cell : cells())
    for (const double mu : {1.0, 4.0}) {
      cell.of.mu = mu;
      Schedule s = cell.of.schedule();
      s.diameter_at_point = false;
      const double most = claim(s, cell.part);
      const Examined found = examine(cell.of, s, cell.part);
      std::printf("  %-28s claim %.4f  bound %.4f  estimate %.4f\n", cell.name.c_str(), most, found.bound,
                  found.estimate);
      EXPECT_LE(found.bound, most) << cell.name;
      if (!is_short()) {
        EXPECT_GE(found.estimate, cell.reach * most - 0.06) << cell.name << ": not the worst case";
      }
    }
}

// ---- broken twins: each claims what the plan charges ----

void expect_refuted(const std::string& name, Final of, std::optional<Part> part,
                    const std::function<void(Schedule&)>& tamper, const Change& change = {}) {
  of.mu = 4;
  Schedule s = of.schedule();
  s.diameter_at_point = false;
  const double most = claim(s, part);
  if (tamper) tamper(s);
  const Examined found = examine(of, s, part, change);
  std::printf("  twin: %-40s claim %.4f  bound %.4f  estimate %.4f\n", name.c_str(), most, found.bound, found.estimate);
  EXPECT_GT(found.bound, most) << name << " passed";
}

PrivateRound& last(Schedule& s) {
  return s.private_rounds.back();
}
const PrivateRound& last(const Schedule& s) {
  return s.private_rounds.back();
}

TEST(BrokenFinalRoundTwin, AHessianOfTooSmallSensitivityIsRefuted) {
  const auto as_one = [](Schedule& s) { last(s).hessian_scale /= std::numbers::sqrt2; };
  expect_refuted("Hessian with sensitivity c1", {.row = {along, across}}, hessian, as_one);
  expect_refuted("the same, squared loss", {.loss = "squared", .row = {along, across}}, hessian, as_one);
}

TEST(BrokenFinalRoundTwin, ASpreadWithTheSensitivityOfTheHessianIsRefuted) {
  expect_refuted("spread charged with c1", {.f = far, .row = {along, across}}, spread,
                 [](Schedule& s) { last(s).spread_scale /= 4; });
}

TEST(BrokenFinalRoundTwin, AnUncutGradientChargedAsCutIsRefuted) {
  expect_refuted("uncut, charged at 0.35", {.f = far, .row = {along, across}}, gradient,
                 [](Schedule& s) { last(s).gradient_scale *= 0.35; });
}

TEST(BrokenFinalRoundTwin, LabelsBeyondTheirBoundAreRefuted) {
  expect_refuted("label sums charged for |y| <= 1/2", {.loss = "squared", .row = {along, against}}, gradient,
                 [](Schedule& s) { last(s).gradient_scale /= 2; });
  expect_refuted("squares charged for |y| <= 0.7", {.loss = "squared", .row = {along, empty}}, square,
                 [](Schedule& s) { last(s).square_scale /= 2; });
}

// The spread has the Hessian's noise, times what their scales differ by. The attacker takes it out: the Hessian of these rows
// is 0 in both worlds, so that it sees the noise, and what rounding leaves of their difference hides nothing.
TEST(BrokenFinalRoundTwin, TheSameNoiseInHessianAndSpreadIsRefuted) {
  const Change once = [](Vector& value, const Schedule& s, const Final& of, int world, privacy::Random& random) {
    const auto piece = pieces(s);
    const Vector drawn = privacy::gaussian_vector(3, 1, random);
    Vector twin = bare(of, world).head(6);
    twin.head(3) += piece[hessian].scale * drawn;
    twin.tail(3) += piece[spread].scale * drawn;
    value.head(6) = algorithm::snap(twin / s.sums->unit, s.release_bound, last(s).grid) * s.sums->unit;
    value.segment(3, 3) -= piece[spread].scale / piece[hessian].scale * (value.head(3) - bare(of, 0).head(3));
  };
  const Final of{.f = far, .row = {along, across}};
  EXPECT_LT(bare(of, 0).head(3).norm() + bare(of, 1).head(3).norm(), 1e-12);
  expect_refuted("one noise for Hessian and spread", of, spread, {}, once);
}

// ---- the law of the noise ----

TEST(FinalRoundNoise, IsGaussianOfThePlannedScalesAndIndependentBetweenVectors) {
  for (const char* loss : {"logistic", "squared"}) {
    Final of{.loss = loss, .row = {along, along}};
    Schedule s = of.schedule();
    s.diameter_at_point = false;
    data::Rows nothing;
    nothing.features = 2;
    nothing.append({}, {}, std::string(loss) == "squared" ? 0 : 1);
    std::vector<double> sample;
    const auto all = pieces(s);
    Index numbers = 0;
    for (std::uint64_t run = 0; sample.size() < (is_short() ? 20000U : 400000U); ++run) {
      privacy::Random random = privacy::Random::seeded(run, 3, 0, "final sampler");
      const Vector value =
          algorithm::newton::noisy_sums({.rows = &nothing, .loss = s.loss, .weight = 1}, of.f,
                                        s.sums->layout(s.sums->rounds), s, s.private_rounds.back(), random) *
          s.sums->unit;
      numbers = value.size();
      for (const Piece& piece : all)
        for (Index k = 0; k < piece.size; ++k) sample.push_back(value[piece.at + k] / piece.scale);
    }
    EXPECT_TRUE(all_accepted(check_normal(sample)));
    EXPECT_TRUE(all_accepted(check_independent(sample, numbers)));
    for (double& x : sample) x *= 1 + small_error();
    EXPECT_TRUE(is_rejected(check_normal(sample)));
  }
}

}  // namespace
}  // namespace parley::audit::final_round
