// Where a run without noise ends: the problem that the limit solves, and how far growth without end lets it travel.
//   weights   (D) with a dual step θ_i per node keeps Σ_i λ_i/θ_i = 0, so the limit solves
//             Σ_i ∇O_i(f)/θ_i = 0                                                         docs/check/algorithms-rounds.md
//   travel    summing the optimality conditions of (P) over nodes that agree on f, with Σ_i λ_i = 0:
//             f⁺ − f = −x_k Σ_i ∇O_i(f⁺)/N,  x_k = N / (2 Σ_i η_i(k) V_i)
//             a recycled round moves f by −y_k mean ∇O,  y_k = mean 1/(2η_iV_i + γ)
//             A direction in which the mean objective has curvature h keeps at least
//             Π 1/(1 + h x_k) Π (1 − h y_k)₊ of its distance.
#pragma once
#include <optional>
#include <vector>

#include "parley/network/graph.h"
#include "parley/theory/run.h"

namespace parley::theory {

// Weights of the nodes in the limit problem, mean 1. Absent when the ratios of the dual steps change over the rounds:
// then nothing of the kind is kept, and the limit depends on the path.
std::optional<Vector> limit_weights(const PublicRun& run);

struct Growth {
  double factor = 1;     // from one private round to the next, smallest of the nodes; > 1: geometric, without end
  double travel = 0;     // Σ_k x_k (+ y_k) over all rounds to infinity
  double remaining = 0;  // the part of travel that lies after the last round
  double kept =
      1;  // share of the distance that the weakest direction (curvature least_curvature) keeps for ever, at least
  double stuck = 0;  // directions of less curvature than this keep at least 1 % for ever
};
// For penalties η_i(k) growing by `growth` per private round beyond the last round of `run`. recycled_damping: γ, or
// absent.
Growth endless_growth(const network::Graph& graph, const PublicRun& run, const Vector& growth,
                      std::optional<double> recycled_damping);

}  // namespace parley::theory
