#include <algorithm>

#include "parley/algorithm/rules.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/problem/reach.h"

namespace parley::algorithm {

namespace {

constexpr double largest_tolerance = 1e-3;

// What a node's rounding needs, relative to C_i/B_i, and where.
struct Needed {
  double tolerance = 0;
  int node = 0;
  long round = 0;
};

// A linearised update: the sum over rows to half the tolerance. A minimum within the release bound: by reach.h.
double needed_in(const Schedule& s, const PrivateRound& r, const problem::Sizes& sizes) {
  if (s.algorithm.linear) return 2 * problem::summation_rounding(sizes) / s.weight;
  const double noise = r.largest_objective_noise(sizes.features * s.loss.scores());
  const problem::Reach far = problem::reach_within(sizes, s.release_bound, noise, r.strong_convexity, s.weight);
  return problem::certifiable_tolerance(sizes, far) / s.weight;
}

Needed needed_by(const std::vector<Schedule>& nodes, const Setting& setting) {
  Needed most;
  for (const Schedule& s : nodes) {
    const problem::Sizes sizes{.records = setting.records[static_cast<std::size_t>(s.node)],
                               .features = static_cast<double>(std::max(setting.features, 1L)),
                               .loss = s.loss,
                               .weight = s.weight,
                               .l1 = s.l1};
    for (std::size_t k = 0; k < s.private_rounds.size(); ++k) {
      const double needed = needed_in(s, s.private_rounds[k], sizes);
      if (needed > most.tolerance) most = {needed, s.node, static_cast<long>(k) + 1};
    }
  }
  return most;
}

}  // namespace

double certified_tolerance(const Plan& plan, const Options& given, const Setting& setting) {
  const double usual = *plan.options.tolerance;
  if (!plan.noisy()) return usual;
  const Needed needed = needed_by(plan.nodes, setting);
  const double allowed = given.tolerance.value_or(largest_tolerance);
  if (needed.tolerance <= allowed) return std::max(usual, needed.tolerance);
  const bool grown = needed.round > 1;  // only a penalty that grows makes a later round worse than the first
  std::string fix = grown ? "end the growth with --penalty-growth-rounds" : "lower --release-bound";
  if (given.tolerance) fix += ", raise --tolerance, or leave it out";
  if (!given.tolerance && needed.tolerance < 1) fix += ", or give that --tolerance: more charged noise covers it";
  throw Error(
      {.what = "private round " + std::to_string(needed.round) + " of node " + std::to_string(needed.node) +
               " could not be certified in double arithmetic for all rows and all messages of others",
       .value = given.tolerance ? "tolerance " + number(*given.tolerance) : "a tolerance up to " + number(allowed),
       .allowed = "at least " + number(needed.tolerance) + " with these records, features and penalties and " +
                  "release-bound " + number(given.release_bound),
       .where = grown ? "option --penalty-growth" : "option --tolerance",
       .fix = fix});
}

}  // namespace parley::algorithm
