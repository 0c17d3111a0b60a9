// The audit of Gaussian noise (docs/proofs/gaussian.md). Two ways to look:
//   sampled  the product's node is run many times in two worlds, and no test may tell them apart better than N(0,1)
//            from N(μ,1): Φ⁻¹(1 − FPR) − Φ⁻¹(FNR) ≤ μ, μ = √Σμ_k² of what was charged. The test and its threshold are chosen
//            on one half of the runs and counted on the other, Clopper–Pearson at 99.9 %.
//   exact    for one round with noise in the objective the two densities are known, so δ(ε) is an integral over the
//            plane and needs no luck: it sees a fault of 1 % far in the tail, where sampling would take 10^10 runs.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "parley/audit/one_round.h"

namespace parley::audit {

// Opposed rows (±c, tilt) and f(0) = (across, −depth), kept there by the neighbour: with across = 0 both gradients have
// full size and all but opposite directions, the worst case of the bound where the Jacobian is free.
struct GaussianOptions {
  std::string algorithm = "dvp";
  long rounds = 1;
  Choice<algorithm::Place> noise_on = algorithm::Place::objective;
  double mu = 1;       // claim of the whole run, split evenly over its private rounds
  double epsilon = 0;  // above 0: the product plans everything from (epsilon, 1e-5), and mu and ratio are not used
  double ratio = 0;    // σ/κ of the first round: sets the penalty; 0: the penalty is 2
  long records = 1;    // B; C = 1
  long rows_per_person = 0;  // above 1: so many rows differ, and mu is for all of them
  double penalty_growth = 1;
  double tilt = 0.05, depth = 160, across = 0;
};
Scene make_gaussian_scene(const GaussianOptions& options);

struct GaussianVerdict {
  double claim = 0;        // √Σμ² over the charges of a run
  double lower_bound = 0;  // of μ, confidence 99.9 %
  double estimate = 0;     // of μ by the same test, without confidence
  double free_residual = 0;
  std::string statistic;
  bool passes() const { return lower_bound <= claim && free_residual <= 1e-9; }
};
GaussianVerdict examine_gaussian(const Scene& scene, const Mechanism& mechanism, long runs, std::uint64_t seed);

// The laws of one round's exact minimum in D and D', as masses of small cells.
struct Profile {
  std::vector<std::array<double, 2>> cells;
  double mass(int world) const;
  double delta(double epsilon) const;  // the larger of the two orders
};
Profile exact_profile(const Scene& scene, int steps = 1200);

// The largest δ(ε)/δ_claim(ε) for 0 ≤ ε ≤ 4·claim: above 1, the claim is false.
struct Excess {
  double ratio = 0, epsilon = 0, delta = 0;
};
Excess largest_excess(const Profile& profile, double claim);

}  // namespace parley::audit
