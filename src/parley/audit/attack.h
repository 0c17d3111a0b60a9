// The attack that noise must defeat. ADMM without noise hides nothing: whoever sees a node's broadcasts of two rounds
// and knows all of its rows but one computes that one, also when the penalty η and the dual step θ are kept secret (so
// a secret penalty is no protection, contrary to ZKL18 §6.2).
//   The optimality condition of round t, with everything known on the right:
//     −(C/B)∇L(missing row) = G(t) + 2λ(t−1) + η P(t) =: w(t)
//     G = ∇O of the known rows,   P(t) = Σ_j (2f(t) − f(t−1) − f_j(t−1))
//   λ(0) = 0,  2λ(1) = θ D,  D = Σ_j (f(1) − f_j(1)).
//   For the logistic loss −∇L = s·v with v = y·x and s = 1/(1 + e^{f·v}), so
//     w(1) = (C/B) s₁ v,   w(2) = (C/B) s₂ v:  both point along v, and their lengths give its length.
//   η, θ unknown: w(2) = k·w(1) is linear in (η, θ, k, kη) and has d equations.
#pragma once
#include <array>
#include <optional>

#include "parley/base/vector.h"
#include "parley/problem/objective.h"

namespace parley::audit {

// One round of broadcasts around the attacked node.
struct Heard {
  Vector f;               // f_i(t)
  Vector neighbours_sum;  // Σ_j f_j(t)
};

struct AttackFacts {
  problem::Problem known;  // the node's objective without the missing row; its weight is still C/B
  int degree = 0;
};

struct Steps {
  double penalty = 0;    // η
  double dual_step = 0;  // θ
};

// w(1), w(2): with noise b in the objective each is off by b.
std::array<Vector, 2> missing_gradients(const AttackFacts& facts, const std::array<Heard, 3>& heard,
                                        const Steps& steps);

// For noise on the output: f(t) less the minimum that the known rows alone would give, t = 1, 2. The missing row moves
// it by about H⁻¹w(t), the noise is added. (w(t) is the wrong tool there: it evaluates the known rows at the noisy
// point, and what that adds points along what all rows have in common, so it resembles any record, present or not.)
std::array<Vector, 2> missing_shifts(const AttackFacts& facts, const std::array<Heard, 3>& heard, const Steps& steps);

// η and θ from rounds 0, 1, 2 of a run without noise. Needs more features than four; nullopt when they do not determine
// the steps.
std::optional<Steps> recover_steps(const AttackFacts& facts, const std::array<Heard, 3>& heard);

// v = y·x of the missing row. Logistic loss. The label is then the sign of the intercept, or of any feature known to be
// positive.
std::optional<Vector> recover_row(const AttackFacts& facts, const std::array<Heard, 3>& heard, const Steps& steps);

}  // namespace parley::audit
