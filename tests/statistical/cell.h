// How many runs an audit has, and how its verdicts are printed.
// PARLEY_TEST_FULL: 10^5 runs a world. PARLEY_TEST_SHORT, for the sanitizers: so few that only the bounds are checked,
// not the power.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <string>

#include "parley/audit/one_round.h"

namespace parley::audit {

inline bool is_short() {
  return std::getenv("PARLEY_TEST_SHORT") != nullptr;
}
inline bool is_full() {
  return std::getenv("PARLEY_TEST_FULL") != nullptr;
}

inline void print(const std::string& cell, double epsilon, const Verdict& v) {
  std::printf("  %-36s epsilon %.1f  claim %.4f  bound %.3f (%s)  largest ratio %.4f\n", cell.c_str(), epsilon, v.claim,
              v.lower_bound, v.statistic.c_str(), v.largest_ratio);
}

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
