// The audit of dp-admm, linear-admm and star-pvp (docs/proofs/linear.md): the product's own nodes in two worlds, led
// by the trainer or the neighbour to where the bound is tight. (That the audit sees faults is linear_twin_test.cpp.)
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cell.h"
#include "parley/audit/linear.h"

namespace parley::audit {
namespace {

struct Cell {
  std::string name;
  LinearOptions options;
  bool few_claims = false;  // but under PARLEY_TEST_FULL: a variant of another cell, or slow
};

// One update, where the two worlds are as far apart as the charge allows.
std::vector<Cell> one_update() {
  return {
      {"dp-admm, hinge at 0", {.loss = "hinge", .norm = 0}},
      {"dp-admm, at-point, norm 0", {.at_point = true, .norm = 0}},
      {"linear-admm", {.algorithm = "linear-admm"}},
      {"linear-admm, at-point, norm 1", {.algorithm = "linear-admm", .at_point = true, .norm = 1}, true},
      {"linear-admm, at-point, norm 10", {.algorithm = "linear-admm", .at_point = true, .norm = 10}},

      {"linear-admm, l1", {.algorithm = "linear-admm", .regularizer = "l1"}, true},
      {"star-pvp", {.algorithm = "star-pvp"}},
      {"star-pvp, l1", {.algorithm = "star-pvp", .regularizer = "l1"}, true},
  };
}

// In six dimensions pure noise has its large log ratios in rare directions: there check A is what counts.
std::vector<Cell> softmax() {
  return {{"linear-admm, softmax", {.algorithm = "linear-admm", .loss = "softmax"}, true},
          {"star-pvp, softmax", {.algorithm = "star-pvp", .loss = "softmax"}, true}};
}

std::vector<Cell> several_updates() {
  return {
      {"dp-admm, 3 rounds", {.rounds = 3}},
      {"dp-admm, hinge at 0, 3 rounds", {.loss = "hinge", .rounds = 3, .norm = 0}, true},
      {"dp-admm, at-point, norm 5, 3 rounds", {.at_point = true, .rounds = 3, .norm = 5}},
      {"dp-admm, elastic net, 3 rounds", {.regularizer = "elastic-net", .rounds = 3}, true},
      {"linear-admm, at-point, norm 2, 3 rounds",
       {.algorithm = "linear-admm", .at_point = true, .rounds = 3, .norm = 2}},
      {"star-pvp, 3 rounds", {.algorithm = "star-pvp", .rounds = 3}, true},
      {"linear-admm, at-point, 10 records",
       {.algorithm = "linear-admm", .at_point = true, .norm = 5, .records = 10},
       true},
  };
}

std::vector<Cell> many_updates() {
  return {{"dp-admm, at-point, norm 5, 20 rounds", {.at_point = true, .rounds = 20, .norm = 5}},
          {"linear-admm, 20 rounds", {.algorithm = "linear-admm", .rounds = 20}, true}};
}

// The product searches Diam(0) for a third of a millisecond, and dp-admm starts there: few runs, and few claims.
bool is_slow(const LinearOptions& o) {
  return o.at_point && o.algorithm == "dp-admm";
}

long runs(const LinearOptions& o) {
  const bool costs_more = o.rounds > 1 || o.records > 1 || o.loss == problem::LossKind::softmax;
  const long most = is_slow(o) ? 2000 : o.rounds > 5 ? 1000 : costs_more ? 3000 : 10000;
  return is_short() ? most / 20 : (is_full() ? 10 : 1) * most;
}

using Claims = std::vector<double>;
Claims claims(const LinearOptions& o, bool few, const Claims& one, const Claims& two, const Claims& all) {
  return is_full() ? all : is_slow(o) ? one : few ? two : all;
}

// A lower bound of μ misses it by 8/√runs or so near 1, and by more where μ is larger: the cells here need at most 27.
double reachable(double mu, long runs) {
  return 1 - 35 / (mu * std::sqrt(static_cast<double>(runs)));
}

void expect_gamma_claims_to_hold(const std::vector<Cell>& cells, std::uint64_t seed,
                                 const std::function<Least(double epsilon)>& least) {
  for (const auto& [name, options, few] : cells) {
    seed += 100;
    for (const double epsilon : claims(options, few, {3}, {1, 5}, epsilons())) {
      LinearOptions o = options;
      o.noise = "gamma";
      o.claim = epsilon;
      expect_to_hold(name + ", gamma", make_linear_scene(o), epsilon, runs(o), seed, least(epsilon));
    }
  }
}

void expect_gaussian_claims_to_hold(const std::vector<Cell>& cells, std::uint64_t seed) {
  for (const auto& [name, options, few] : cells) {
    seed += 1000;
    for (const double mu : claims(options, few, {2}, {0.5, 2}, mus())) {
      LinearOptions o = options;
      o.claim = mu;
      const long n = runs(o);
      expect_gaussian_to_hold(
          name, make_linear_scene(o), mu, n, seed,
          {.ratio = mu >= 1 ? (o.rounds > 1 ? 0.75 : 0.9) : 0, .bound = reachable(mu, n) - (o.rounds > 1 ? 0.15 : 0)});
    }
  }
}

TEST(LinearAudit, OneUpdateWithGammaNoiseKeepsItsClaim) {
  expect_gamma_claims_to_hold(one_update(), 50000, [](double epsilon) {
    return Least{.ratio = 0.97, .bound = 0.85 * expected_bound(epsilon)};
  });
  expect_gamma_claims_to_hold(softmax(), 52000, [](double) { return Least{.ratio = 0.9}; });
}

TEST(LinearAudit, OneUpdateWithGaussianNoiseKeepsItsClaim) {
  expect_gaussian_claims_to_hold(one_update(), 100000);
  expect_gaussian_claims_to_hold(softmax(), 120000);
}

TEST(LinearAudit, SeveralUpdatesWithGammaNoiseKeepTheirClaim) {
  expect_gamma_claims_to_hold(several_updates(), 54000,
                              [](double epsilon) { return Least{.ratio = 0.8, .bound = epsilon >= 3 ? 0.3 : 0}; });
  expect_gamma_claims_to_hold(many_updates(), 56000, [](double) { return Least{}; });
}

TEST(LinearAudit, SeveralUpdatesWithGaussianNoiseKeepTheirClaim) {
  expect_gaussian_claims_to_hold(several_updates(), 130000);
  expect_gaussian_claims_to_hold(many_updates(), 140000);
}

TEST(LinearAudit, TheSearchedDiameterIsThatOfTheTable) {
  for (const auto& [norm, diameter] : {std::pair{0.0, 1.0}, {0.5, 1.029}, {2, 1.270}, {10, 1.821}, {100, 1.993}})
    EXPECT_NEAR(steepest(norm).diameter, diameter, 5e-4);
  EXPECT_NEAR(steepest(160).a, 0.05, 1e-3);
}

}  // namespace
}  // namespace parley::audit
