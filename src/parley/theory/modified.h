// Convergence of M-ADMM (and admm, dvp, pvp, pp without their noise). Zhang, Khalili, Liu, ICML 2018, section 3.
//   Theorem 3.1   η_i(t+1) ≥ η_i(t) ≥ θ > 0 for all i, t
//   (21)          δ μ² σ̃_max ≤ θ σ_min(D−A)                              σ̃: of W(D+A),  σ̄: of (W − θI)(D−A)
//   (22)          δ ( (μ σ̄_max² I + μ² D_M) / (θ σ_min(D−A) (μ−1)) + W(D+A) ) ⪯ 2(W − θI)(D−A) + 2 D_m
//   Theorem 3.2   (1 + δ(t)) |Z(t) − Z*|² ≤ |Z(t−1) − Z*|²  in the norm of J(t) = diag(I/θ, W(t)(D+A)), Z = (Y, f),
//                 and for every μ > 1
//   (23)          δ ≥ min { θ σ_min(D−A) / (μ² σ̃_max),
//                           (2m_o + 2σ̄_min) / ((μ² M_O² + μ σ̄_max²) / (θ σ_min(D−A)(μ−1)) + σ̃_max) }
// Differs from the paper: σ̄_min, the smallest *nonzero* value, is not a lower bound on (22)'s right side, which is 2
// D_m along the vector of ones; `corrected` has 2 m_o there. And both theorems are proved only for penalties that are
// equal at all nodes (docs/check/theory-peers.md has the proofs and counterexamples).
#pragma once
#include <optional>
#include <string>

#include "parley/base/vector.h"
#include "parley/network/graph.h"
#include "parley/theory/run.h"
#include "parley/theory/spectrum.h"

namespace parley::theory {

struct Violation {
  int node = 0;
  long round = 0;  // private round k, from 1
  std::string what;
};
std::optional<Violation> order_violated(const PublicRun& run);  // Theorem 3.1's inequalities, the first one that fails

bool equal_entries(const Vector& v);

struct Rate {
  double delta = 0;
  double mu = 0;  // the μ > 1 that gives it
};

struct RoundRate {
  SingularValues signless;        // of W(D+A)
  SingularValues excess;          // of (W − θI)(D−A)
  Rate printed;                   // (23) as it stands
  std::optional<Rate> corrected;  // with 2 m_o; absent where nodes differ, or η < θ
  // (19) follows where this is ≥ 0: the least eigenvalue of the symmetric part of (W − θI)(D−A) + D_m. Equal penalties:
  // always.
  double monotone_margin = 0;
};
RoundRate rate(const network::Graph& graph, const PublicRun& run, long round);

// (23) for given spectra, maximised over μ. theta_sigma = θ σ_min(D−A).
Rate best_rate(double theta_sigma, double signless_most, double excess_most, double numerator, double most_curvature);

}  // namespace parley::theory
