// The empirical privacy audit of a node's whole transcript, one round or many (docs/proofs/audit.md). Two
// nodes, one edge. Node 0 is audited, in two worlds D and D' that differ in one row. Node 1 is the attacker:
// it holds no row of worth, sends what it likes, and knows everything but which world is true. What it sees gives the
// noise of either world, since the minimum released satisfies its optimality condition:
//   objective  b_D(t) = −[ (C/B) Σ ∇L + (ρ/N) f + 2λ + η Σ_j (2f(t) − f(t−1) − f_j(t−1)) ]
//              J_D = ∇² of the node's objective at f(t)
//              log ratio = Σ_t { −rate (‖b_D‖ − ‖b_D'‖) + ln det J_D − ln det J_D' }
//   output     n_D(t) = f(t) − argmin_D,   log ratio = Σ_t −rate (‖n_D‖ − ‖n_D'‖)
//   Gaussian   the same with ‖·‖²/(2 scale²) in place of rate ‖·‖
// This is written from the papers' equations and not with algorithm/consensus.h: a slip there must not cancel here.
//
// Check A  |log ratio| ≤ claim in every run. The charges bound the log ratio at *every point* f, not only in
//          probability, so it holds also at the value released, which is the minimum plus the small noise that covers the solver's inexactness
//          (docs/proofs/minima.md, theorem 4): that noise moves f to another point where the same bound holds.
//          What it adds to the true loss is the inexact share of the charge, which no audit can see. Only rounding is
//          allowed for, 1e-9.
// Check B  runs are split; on one half the best attack and its threshold are chosen, on the other counted,
//          Clopper–Pearson at 99.9 %: the lower bound of ε may not exceed the claim. Valid for any statistic; four are tried (Evidence).
//          Gaussian noise has no pointwise bound: there, check B on μ takes the place of A and B (gaussian.h).
// Check C  a recycled round equals what anybody computes from earlier broadcasts.
#pragma once
#include <cstdint>
#include <string>

#include "parley/algorithm/options.h"
#include "parley/audit/evidence.h"

namespace parley::audit {

struct SceneOptions {
  algorithm::Options algorithm = quiet_options();  // noise-rate is set so that the plan claims `epsilon`
  double epsilon = 1;                              // claim for the whole run
  long records = 1;          // B; the loss weight C is 1 unless set, so 1 is the worst case C/B = 1
  long rows_per_person = 0;  // above 1: so many rows differ, and epsilon is for all of them
  double row_norm = 1;       // more than 1 breaks the contract of data::Rows: for broken twins only

  static algorithm::Options quiet_options();  // C = 1, ρ = 0.02, η = 2
};

// Opposed rows v = y·x = (±c, s), s = 0.3, and f(0) = (0, −20): both records are far on the wrong side, their gradients
// have full size and nearly opposite directions, which is the worst case of the bound. (A label flip reaches half of
// it.)
Scene make_scene(const SceneOptions& options);

Evidence weigh_minima(const Scene& scene, const Transcript& transcript);

struct Verdict {
  double claim = 0;
  double lower_bound = 0;    // of ε, confidence 99.9 %
  double largest_ratio = 0;  // of |log ratio| over all runs
  double free_residual = 0;
  std::string statistic;                                              // the one that gave the bound
  bool ratio_holds() const { return largest_ratio <= claim + 1e-9; }  // A
  bool bound_holds() const { return lower_bound <= claim; }           // B
  bool recycling_holds() const { return free_residual <= 1e-9; }      // C
  bool passes() const { return ratio_holds() && bound_holds() && recycling_holds(); }
};
// `runs` in each world. The noise is seeded: the same verdict every time.
Verdict examine(const Scene& scene, const Mechanism& mechanism, long runs, std::uint64_t seed);

}  // namespace parley::audit
