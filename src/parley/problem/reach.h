// How far out a minimum can lie and how much its gradient can lose in double arithmetic, for ANY rows and noise: worked
// out before rows are read and noise is drawn, from public sizes and released values.
// Privacy: whether a private round goes on is decided by these numbers alone (R12). A certificate that looked at the
// rows' own non-zeros, slopes or iterate could fail for some rows and not for others, and a neighbour who sends huge
// values would choose when: the stop would tell him about the rows.
#pragma once
#include "parley/problem/objective.h"

namespace parley::problem {

// What is public about a node's problem. Rows are counted, never read.
struct Sizes {
  double records = 0, features = 0;
  Loss loss;
  double weight = 0;  // C_i / B_i
  double l1 = 0;      // on ‖f‖₁
};
Sizes sizes_of(const Problem& problem);

struct Reach {
  double radius = 0;    // ‖f‖ ≤ this wherever ‖∇J(f)‖ ≤ τ
  double rounding = 0;  // ‖computed gradient − ∇J(f)‖ ≤ this for every f within the radius
};

// κ‖f‖ ≤ ‖l‖ + C_i G + ρ₁√d + τ at every such f, because ∇J(f) = κf + l + (the loss' part, of norm ≤ C_i G).
//   linear     ‖l‖ with the most that noise can add to it
//   convexity  κ, the strong convexity of J
Reach reach(const Sizes& sizes, double linear, double convexity, double tolerance);

// The largest reach that a node meets while some noise b, ‖b‖ ≤ noise, leaves its minimum within the release bound in
// every coordinate, ‖f‖ ≤ bound √d: there ‖l‖ ≤ κ‖f‖ + ‖b‖ + C_i G + ρ₁√d + τ. Beyond it every noise leads to a
// coordinate past the bound, and the run ends as diverged whatever is certified.
Reach reach_within(const Sizes& sizes, double bound, double noise, double convexity, double tolerance);

// A minimum can be certified to the tolerance τ, whatever the rows, if its rounding E is at most this share of τ: a
// descent with a gradient that is off by E ends with ‖∇J‖ ≤ 1.01 E (with l1: a subgradient of 5.05 E), which computes
// as E more and is certified with another E; further out than the radius it goes on falling (docs/proofs/minima.md,
// theorem 4).
inline constexpr double certifiable_share = 0.32, certifiable_share_l1 = 1.0 / 16;
double certifiable_tolerance(const Sizes& sizes, const Reach& r);  // the smallest that can be met

// ‖sum over any rows − Σ their contributions as computed‖ ≤ this: what a linearised update needs (row_sums.h).
double summation_rounding(const Sizes& sizes);

// What the gradient of the loss' part loses, u = 2⁻⁵³, ‖x‖ ≤ 1:
//   scores of a row  terms·u ‖f‖ → slope off by c₁ times that, and by 16u G of its own (kernels.h;
//                                  softmax: (4K + 16)u, see softmax.cpp)
//   the sum          summation · Σ‖slope‖
struct LossRounding {
  double records = 0;    // rows
  double terms = 0;      // Σ over rows of the longest chain of additions in a score
  double slopes = 0;     // ≥ Σ‖slope‖
  double summation = 0;  // row_sums.h
};
double loss_rounding(const Loss& loss, double weight, double size, const LossRounding& r);

}  // namespace parley::problem
