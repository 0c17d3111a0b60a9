// One cell of an audit: what a verdict must say about a sound mechanism, and about a broken twin.
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "length.h"
#include "parley/audit/gaussian.h"
#include "parley/audit/one_round.h"

namespace parley::audit {

// The claims that are audited: ε of pure noise, μ of Gaussian noise.
inline const std::vector<double>& epsilons() {
  static const std::vector<double> all{0.5, 1, 2, 3, 5}, few{1, 3};
  return is_short() ? few : all;
}
inline const std::vector<double>& mus() {
  static const std::vector<double> all{0.25, 0.5, 1, 2}, few{0.5, 2};
  return is_short() ? few : all;
}

inline void print(const std::string& cell, double epsilon, const Verdict& v) {
  std::printf("  %-36s epsilon %.1f  claim %.4f  bound %.3f (%s)  largest ratio %.4f\n", cell.c_str(), epsilon, v.claim,
              v.lower_bound, v.statistic.c_str(), v.largest_ratio);
}

inline void print(const std::string& cell, const GaussianVerdict& v) {
  std::printf("  %-42s claim %.4f  bound %.4f = %.2f  estimate %.4f (%s)\n", cell.c_str(), v.claim, v.lower_bound,
              v.lower_bound / v.claim, v.estimate, v.statistic.c_str());
}

// promises.md's expected bound of one round (10^5 runs a world), a little less where there are fewer runs; of the
// claim.
inline double expected_bound(double epsilon) {
  static const std::map<double, double> table{{0.5, 0.29}, {1, 0.74}, {2, 1.67}, {3, 2.55}, {5, 4.24}};
  return (is_full() ? 0.9 : epsilon < 1 ? 0.7 : 0.8) * table.at(epsilon) / epsilon;
}

// What the audit must reach of the claim, or it would be vacuous. None under PARLEY_TEST_SHORT.
struct Least {
  double ratio = 0.2;  // the largest log ratio; of Gaussian noise, the estimate of μ
  double bound = 0;    // the lower bound
};

inline void expect_to_hold(const std::string& cell, const Scene& scene, double epsilon, long runs, std::uint64_t seed,
                           const Least& least) {
  const Verdict v = examine(scene, product(scene), runs, seed + static_cast<std::uint64_t>(10 * epsilon));
  print(cell, epsilon, v);
  SCOPED_TRACE(cell + ", epsilon " + std::to_string(epsilon));
  EXPECT_NEAR(v.claim, epsilon, 1e-3 * epsilon);
  EXPECT_LE(v.largest_ratio, v.claim + 1e-9);
  EXPECT_LE(v.lower_bound, v.claim);
  EXPECT_LE(v.free_residual, 1e-9);
  if (is_short()) return;
  EXPECT_GE(v.largest_ratio, least.ratio * epsilon) << "the audit's geometry is not the worst case";
  EXPECT_GE(v.lower_bound, least.bound * epsilon);
}

inline void expect_gaussian_to_hold(const std::string& cell, const Scene& scene, double mu, long runs,
                                    std::uint64_t seed, const Least& least) {
  const GaussianVerdict v = examine_gaussian(scene, product(scene), runs, seed + static_cast<std::uint64_t>(100 * mu));
  print(cell, v);
  SCOPED_TRACE(cell + ", mu " + std::to_string(mu));
  EXPECT_NEAR(v.claim, mu, 1e-3 * mu);
  EXPECT_LE(v.lower_bound, v.claim);
  EXPECT_LE(v.free_residual, 1e-9);
  if (is_short()) return;
  EXPECT_GE(v.lower_bound, least.bound * mu);
  EXPECT_GE(v.estimate, least.ratio * mu) << "the audit's geometry is not the worst case";
}

// A broken twin claims what the product would claim, and check B must refute it.
inline void expect_refuted(const std::string& twin, const Scene& scene, const Mechanism& mechanism, double epsilon,
                           long runs) {
  const Verdict v = examine(scene, mechanism, runs, 77);
  print("twin: " + twin, epsilon, v);
  EXPECT_NEAR(v.claim, epsilon, 1e-3 * epsilon) << "a twin claims what the product would claim";
  EXPECT_GT(v.lower_bound, v.claim) << twin << " passed check B at epsilon " << epsilon;
  EXPECT_FALSE(v.passes());
}

inline void expect_gaussian_refuted(const std::string& twin, const Scene& scene, const Mechanism& mechanism, double mu,
                                    long runs) {
  const GaussianVerdict v = examine_gaussian(scene, mechanism, runs, 99);
  print("twin: " + twin, v);
  EXPECT_NEAR(v.claim, mu, 1e-3 * mu) << "a twin claims what the product would claim";
  EXPECT_GT(v.lower_bound, v.claim) << twin << " passed at mu " << mu;
  EXPECT_TRUE(examine_gaussian(scene, product(scene), runs / 2, 98).passes()) << "the same scene without the fault";
}

// The product's node under a plan that was tampered with after it was priced.
template <typename Tamper>
Mechanism tampered(const Scene& scene, Tamper tamper) {
  algorithm::Schedule schedule = scene.schedule;
  tamper(schedule);
  return product(scene, schedule);
}

// The product's node, but every round draws from the same stream.
template <typename Node>
class SameNoise : public Node {
 public:
  SameNoise(problem::Problem problem, const algorithm::Schedule& schedule, std::uint64_t seed)
      : Node(problem, schedule), seed_(seed) {}
  privacy::Release step(const privacy::Inbox& inbox, privacy::Random&) const override {
    privacy::Random same = privacy::Random::seeded(seed_, 0, 0, "noise");
    return Node::step(inbox, same);
  }

 private:
  std::uint64_t seed_;
};

inline SceneOptions with(const std::string& algorithm, long rounds = 1) {
  SceneOptions o;
  o.algorithm.algorithm = algorithm;
  o.algorithm.rounds = rounds;
  return o;
}

// The largest |log ratio| over a grid of released points of one round: the worst case looked for, not waited for.
inline double largest_ratio_on_a_grid(const Scene& scene) {
  double largest = 0;
  for (double x = -40; x <= 40; x += 0.25)
    for (double y = -60; y <= 60; y += 0.25) {
      const Transcript released{{.round = 1, .received = scene.neighbour_at(0), .value = Vector{{x, y}}}};
      const double ratio = weigh(scene, released).log_ratio;
      largest = ratio > largest ? ratio : -ratio > largest ? -ratio : largest;
    }
  return largest;
}

}  // namespace parley::audit
