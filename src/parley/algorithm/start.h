// Where a node begins: at the algorithm's own start or, after a party was lost, where an earlier part of the run ended
// (docs/check/protocol-parts.md, section 11). Duals are kept by edge, so that a lost neighbour's share can be left out:
//   peers   λ_i = Σ_j λ_ij,  λ_ij(k) = Σ_{t ≤ k, t touches data} (θ(t)/2)(f_i(t) − f_j(t)) = −λ_ji(k)           (D)
//   a star  γ_i(k) = −Σ_{t ≤ k, t even} ρ(w̃_i(t−1) − w̄(t))                                                     (3c)
//   sums    the state that all share: the point, the curvature, the mean of the points (newton/newton.h)
// Privacy: no data in scope; a start is a function of released values and public parameters.
#pragma once
#include <span>
#include <vector>

#include "parley/algorithm/schedule.h"

namespace parley::algorithm {

struct Start {
  Vector value{};                         // f_i(k), w̃_i or w̄, as released; empty: the algorithm's own start
  std::vector<Vector> duals{};            // by neighbour, in their order; without what is owed; empty: zero
  std::optional<newton::State> common{};  // of sums
  double owed = 0;  // θ or ρ of the dual update for which the neighbours' values of round k are needed
};

// What a node knows of the part that ended, and where the next one begins.
struct Past {
  Start start{};                      // of that part
  std::vector<Vector> own{};          // this node's values of rounds 0 … k at least
  std::vector<privacy::Inbox> inbox;  // its neighbours', of rounds 0 … k−1 at least
  int through = 0;                    // k
  std::vector<bool> stays{};          // by neighbour: it takes part in the next one
};

Start next_start(const Schedule& schedule, const Past& past);  // of a peer or a data provider
Start next_trainer_start(const Plan& plan, const Past& past);

}  // namespace parley::algorithm
