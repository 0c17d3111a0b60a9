// The public plan of the final phase (newton_final.h): how the budget is shared with the rounds before it, and what
// --intervals cannot be combined with. Logistic loss: in the later half of the rounds slopes are not cut and λ does not
// pull, so that the mean of the points has no bias of these; the final round's sums at it give the coefficients. Squared
// loss: one exchange at 0, and nothing before it. Without intervals it is round 1 alone: M is the released curvature and λ,
// so that (N) is the minimum.
#pragma once
#include "parley/algorithm/schedule.h"

namespace parley::algorithm::newton {

// Shares of μ². The rule was tuned on simulated studies (docs/use/intervals.md), not on those that coverage is shown for.
struct FinalShares {
  double gradient = 0, hessian = 0, spread = 0, square = 0;
  double sum() const { return gradient + hessian + spread + square; }
};
FinalShares final_shares(const Options& o);  // without --intervals 0
double main_share(const Options& o);         // what is left for the rounds before

// Error where --intervals, or --loss squared, does not fit the other options. Fills in what they fix.
void fill_in_intervals(Options& o, const Algorithm& a);

// The noise of the final round, where the whole run costs μ.
void set_final_noise(Schedule& s, const Options& o, double mu);

}  // namespace parley::algorithm::newton
