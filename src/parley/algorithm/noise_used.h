// The noise of a run, apart from the budget that it was planned for: so that a record can hold it, and anybody can
// compute from it alone what the run costs.
#pragma once
#include <optional>
#include <vector>

#include "parley/algorithm/schedule.h"

namespace parley::algorithm {

// Of one node. Where parties share noise, of its own: what pairs share comes on top.
struct NoiseUsed {
  std::vector<double> rounds;  // of every private round: scale or rate, as the option has it; of sums: on gradients
  double moments = 0;          // on second moments, in the first round; 0: none are released
  double hessian = 0, spread = 0, square = 0;  // of the final round of --intervals
  bool operator==(const NoiseUsed&) const = default;
};

// Standard deviation of what each pair of parties shares, over that of a party's own noise; and who may pool.
struct PairNoise {
  double over_own = 0;
  int colluders = 0;
};

// Scale or rate in private round k, as the option has it: pp's stands on the penalty, b = 2ηV times it (ZKL18, Algorithm 2).
double noise_level(const Schedule& schedule, std::size_t k);

NoiseUsed noise_used(const Schedule& schedule);
std::optional<PairNoise> pair_noise(const Plan& plan);

// Prices the plan again with this noise, of one node for all or of each. Error where it does not fit the plan's rounds, or
// no theorem covers it.
// Privacy: every price is that of a plan that had this noise; nothing rests on the noise that the plan had before.
void price_again(Plan& plan, const std::vector<NoiseUsed>& nodes, const std::optional<PairNoise>& pairs = {});

}  // namespace parley::algorithm
