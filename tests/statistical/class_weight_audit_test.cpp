// The audit with class weights: the claim, which follows the largest weight, holds and is reached; twins that charge for
// records of weight 1 are refuted (docs/proofs/class-weights.md).
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cell.h"
#include "parley/audit/linear.h"
#include "parley/audit/sums.h"

namespace parley::audit {
namespace {

using algorithm::PrivateRound;
using algorithm::Schedule;

constexpr double largest = 4;
const std::string weights = "1,4";

long runs() {
  return is_full() ? 100000 : is_short() ? 3000 : 8000;
}

void with_noise_for_weight_one(Schedule& s) {
  for (PrivateRound& r : s.private_rounds) r.gradient_scale /= largest, r.output_scale /= largest;
}

TEST(ClassWeightAudit, SumsKeepTheirClaimAndATwinThatChargesForWeightOneIsRefuted) {
  const std::vector<std::pair<std::string, SumsOptions>> cells = {
      {"newton, class weights", {.class_weight = weights}},
      {"newton, class weights, at-point",
       {.class_weight = weights, .clip = 1, .at_point = true, .rounds = 3, .norm = 5}},
      {"newton, class weights, huber-hinge", {.loss = "huber-hinge", .class_weight = weights, .clip = 1}},
      {"dp-gd, class weights", {.algorithm = "dp-gd", .class_weight = weights, .rounds = 3, .records = 10}}};
  std::uint64_t seed = 31000;
  for (const auto& [name, options] : cells) {
    const Scene scene = make_sums_scene(options);
    expect_gaussian_to_hold(name, scene, 1, runs(), seed += 10, {.ratio = 0.85, .bound = 0.7});
    expect_gaussian_refuted(name, scene, tampered(scene, with_noise_for_weight_one), 1, runs());
  }
}

TEST(ClassWeightAudit, LinearisedUpdatesKeepTheirClaimAndATwinThatChargesForWeightOneIsRefuted) {
  const std::vector<std::pair<std::string, LinearOptions>> cells = {
      {"linear-admm, class weights", {.algorithm = "linear-admm", .class_weight = weights}},
      {"linear-admm, class weights, at-point",
       {.algorithm = "linear-admm", .class_weight = weights, .at_point = true, .norm = 5}},
      {"dp-admm, class weights, hinge", {.loss = "hinge", .class_weight = weights, .norm = 0}},
      {"star-pvp, class weights", {.algorithm = "star-pvp", .class_weight = weights}}};
  std::uint64_t seed = 32000;
  for (const auto& [name, options] : cells) {
    const Scene scene = make_linear_scene(options);
    expect_gaussian_to_hold(name, scene, 1, runs(), seed += 10, {.ratio = 0.85, .bound = 0.7});
    expect_gaussian_refuted(name, scene, tampered(scene, with_noise_for_weight_one), 1, runs());
  }
}

// Gamma noise in the objective: theorem 2 with the largest weight. The log ratio of no release exceeds it.
TEST(ClassWeightAudit, NoiseInTheObjectiveKeepsItsClaimAndATwinThatChargesForWeightOneIsRefuted) {
  SceneOptions o = with("dvp");
  o.algorithm.class_weight = weights;
  o.algorithm.penalty = {8};
  for (const double epsilon : {1.0, 3.0}) {
    o.epsilon = epsilon;
    const Scene scene = make_scene(o);
    expect_to_hold("dvp, class weights", scene, epsilon, runs(), 33000,
                   {.ratio = 0.8, .bound = expected_bound(epsilon)});
    expect_refuted("dvp charged for weight 1", scene,
                   tampered(scene,
                            [](Schedule& s) {
                              for (PrivateRound& r : s.private_rounds) r.objective_rate *= largest;
                            }),
                   epsilon, runs());
  }
}

}  // namespace
}  // namespace parley::audit
