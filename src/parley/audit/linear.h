// The audit of linearised updates (dp-admm, linear-admm: docs/proofs/linear.md; (5): gradient-diameter.md there) and of
// star-pvp (docs/proofs/linear-hhcg20.md). The attacker is the
// trainer, or the neighbour: it knows everything but which world is true, answers what it hears, and so keeps the node
// where the two rows' gradients are as far apart as they can be. What it sees gives the noise of either world:
//   linear    n_D = Q(v − f) − p(v) − g_D(v),   g_D = Σ_n c(r_n, v),   v the node's own last release,          by (1)
//             p = −γ + ρ(v − w̄) + R'(v),  γ⁺ = γ − ρ(w̃ − w̄)             dp-admm
//             p = 2λ + η(v − f_1) + R'(v),  λ⁺ = λ + (θ/2)(f − f_1)       linear-admm, one neighbour
//   star-pvp  n_D = w̃ − argmin_w { Σ_n a₀L(w; r_n) + R(w) − γ·w + (ρ/2)‖w − w̄‖² }
//   log ratio = Σ_t −rate (‖n_D‖ − ‖n_D'‖), or Σ_t −(‖n_D‖² − ‖n_D'‖²)/(2 scale²); at-point: scale·Δ_k(h)/Δ, by (5)
// Written from these equations, with its own losses and its own diameter; the product's solver finds star-pvp's
// minimum, which is checked here.
#pragma once
#include <string>

#include "parley/audit/evidence.h"

namespace parley::audit {

// Two rows z = (±√(1 − a²), a) at v = (0, −norm), which attain Diam(norm) for the logistic loss. At norm 160 their
// gradients are 1.995 apart; at norm 0 (a = 0), those of the hinge are 2 apart. Softmax, three classes: the pair of
// section 1.
struct LinearOptions {
  std::string algorithm = "dp-admm";
  Choice<algorithm::Noise> noise = algorithm::Noise::gaussian;
  Choice<problem::LossKind> loss = problem::LossKind::logistic;
  Choice<algorithm::Regularizer> regularizer = algorithm::Regularizer::l2;
  std::string class_weight = "none";  // the rows that differ are of the positive class
  bool at_point = false;
  long rounds = 1;       // updates of the audited node
  double claim = 1;      // μ or ε of the whole run, split evenly
  double norm = 160;     // ‖v‖; dp-admm is at 0 in its first round and is led there by the second
  long records = 1;      // B; C = 1
  double divisor = 100;  // Q; star-pvp: its penalty is a fiftieth of it
};
Scene make_linear_scene(const LinearOptions& options);

// The largest √(1 − a²)·2/(1 + e^{−aR}) and its a: lemma U2, by search.
struct Steepest {
  double a = 0, diameter = 0;
};
Steepest steepest(double norm);

// Where the two gradients are furthest apart, at distance `norm` from 0.
Vector far_point(const problem::Loss& loss, double norm);

Evidence weigh_linear(const Scene& scene, const Transcript& transcript);

}  // namespace parley::audit
