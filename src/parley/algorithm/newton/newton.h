// Second-order exchange: curvature once, then gradients at common released points (docs/check/newton.md).
//   n = Σ_i B_i records, ‖x‖ ≤ 1;  the model minimises  (1/n) Σ L(f; x, y) + (λ/2)‖f‖² + λ₁‖f‖₁
//   (C)  S_i = Σ x xᵀ + noise                         once, in round 1
//   (G)  g_i = Σ cut(∇L(f; x, y)) + noise             in rounds 1 … T, at the common point f;  f = 0 in round 1
//   (Q)  M = c₁ S₊ + λI,   S₊: Σ_i S_i/n with its eigenvalues raised to a floor;   diagonal: c₁ k diag(S) + λI, at most
//        c₁ + λ, with k the most entries of a row (the bare diagonal does not bound the curvature)
//   (N)  f⁺ = argmin_u (ḡ + λf)ᵀu + ½(u − f)ᵀM(u − f) + λ₁‖u‖₁,   ḡ = Σ_i g_i/n;   f − M⁻¹(ḡ + λf) where λ₁ = 0
//   Round T + 1: everybody releases the model, the mean of the points after the later half of the rounds.
// With intervals slopes are cut and λ pulls in the first half of the rounds alone, and a final round comes after round T:
// at the mean of the points (F) takes one step (newton_final.h), and the model is where it leads.
// Without noise M bounds the Hessian everywhere, so (N) never overshoots. c₁, times the largest class weight: 1/4 logistic, 1 Huber, 1/(2h) smoothed
// hinge. Softmax with K classes: ½(I − 11ᵀ/K) ⊗ S (Böhning 1992), which is ½S for each class once the gradient's mean over classes is taken off.
// Privacy: nothing here has data in scope. All of it is a function of released values and public numbers, hence free.
#pragma once
#include <memory>

#include "parley/algorithm/newton/newton_final.h"
#include "parley/algorithm/newton/spectrum.h"
#include "parley/base/vector.h"
#include "parley/privacy/release.h"

namespace parley::algorithm::newton {

enum class Shape { full, diagonal, none };  // of the curvature that is released; none: c₁ bounds it (dp-gd)

// How many numbers of each kind a round has, in this order.
struct Layout {
  Index curvature = 0, hessian = 0, spread = 0, square = 0, gradient = 0;
  bool cut = true;  // slopes are
  Index size() const { return curvature + hessian + spread + square + gradient; }
  bool final() const { return hessian > 0; }
};

// What all parties do with the sum of their releases: public, the same everywhere.
struct Terms {
  double records = 0;  // n
  double unit = 1;     // sums leave in multiples of this power of two, so that they stay within the release bound
  double ridge = 0;    // λ
  double l1 = 0;       // λ₁
  double c1 = 0.25;    // bounds L''
  double clip = 0;     // G: where slopes are cut
  double entries = 0;  // k
  double floor = 0;    // of the eigenvalues of S
  double momentum = 0;
  Shape shape = Shape::full;
  bool moments_known = false;  // from an earlier part of the run: none are released in this one
  Index features = 0;
  int scores = 1;    // K of softmax; f holds scores × features
  long rounds = 0;   // T, or what an earlier part of the run has left of it; with the final phase
  long earlier = 0;  // rounds before these
  bool average = true;
  double release_bound = 1000, grid = 0x1p-40;  // of the points

  FinalPhase final{};

  Index dimension() const { return scores * features; }
  long main_rounds() const { return rounds - final.steps(); }
  bool biased(long round) const { return final.steps() == 0 || round <= main_rounds() / 2; }  // by cutting, and by λ
  Layout layout(long round) const;                                                            // 1 ≤ round ≤ rounds
};

// The upper triangle of a symmetric matrix by columns, off the diagonal times √2: then ‖·‖₂ of the numbers is ‖·‖_F.
Vector packed(const Matrix& lower);
Matrix unpacked(const Vector& numbers, Index features);

// (Q), ready for steps.
class Curvature {
 public:
  Curvature(const Terms& terms, const Vector& moments, double mean);  // Σ_i S_i/unit, and what makes it the mean
  Vector step(const Vector& f, const Vector& mean_gradient, bool biased = true) const;  // (N), the new point

 private:
  void step_of_one_score(Eigen::Ref<Vector> f, const Vector& pull) const;
  Terms terms_;
  std::shared_ptr<const Spectrum> spectrum_{};  // of S; empty: it is diagonal
  Vector inverse_;                              // of M's eigenvalues, or of its diagonal
  Matrix matrix_;                               // M; only where l1 > 0
};

// By what second moments are divided in a part of n' records, where a part of n records released them: min(n, 2n'). What
// the n' have of the sum is at most all of it, so their Hessian stays below 2M, and a step still lowers the objective.
double counted_records(double of_moments, double now);

struct State {
  int round = -1;   // the last that was released
  Vector f;         // the common point
  Vector velocity;  // of momentum
  Vector sum_of_points;
  long counted = 0;                              // points in it; 0: the model is f
  Vector moments;                                // (C) of all: Σ_i S_i/unit; empty: not known yet
  double moments_unit = 0, moments_records = 1;  // unit and n of the part that released them
  std::shared_ptr<const Curvature> curvature{};
  std::shared_ptr<const Estimate> estimate{};  // of the final phase, once it is through

  Vector model() const { return counted > 0 ? Vector(sum_of_points / static_cast<double>(counted)) : f; }
};
State start(const Terms& terms, const Vector& point = {});  // empty: zero

// Σ_i over all parties in the order of nodes: the same bits everywhere.
Vector total_of(const privacy::Inbox& others, const Vector& own, int node);

// What everybody releases where rows play no part: the point in round 0, the model in the last round.
Vector free_value(const State& s, const Terms& terms, bool last);

// Once the releases of round s.round are known: (Q) after round 1, and (N); in the final phase (F). total: their sum in the order of nodes.
State after(State s, const Terms& terms, const Vector& total);

}  // namespace parley::algorithm::newton
