// The audit of newton and dp-gd: docs/check/newton.md, theorem N1. The attacker is the other party: it hears a round before it
// sends its own sums, and so chooses the common point. What it sees gives the noise of either world:
//   n_D = unit · value − ( Σ x xᵀ | Σ cut(∇L(f; x, y)) ),   log ratio = Σ_t −(‖n_D‖² − ‖n_D'‖²)/(2 scale²)
// with the curvature's scale for its coordinates. The model at the end is what anybody computes (check C).
// Written from the equations, with its own losses and its own step; two features, and three classes of a softmax.
#pragma once
#include <string>

#include "parley/audit/evidence.h"

namespace parley::audit {

// The rows of D and D' that differ. opposed: gradients furthest apart, the same x xᵀ; across: (1, 0) and (0, 1), x xᵀ
// furthest apart; slanted: (c, c) and (c, −c), the same but off the diagonal alone.
enum class Pair { opposed, across, slanted };

struct SumsOptions {
  std::string algorithm = "newton";
  Choice<problem::LossKind> loss = problem::LossKind::logistic;  // or huber-hinge, huber, squared (at 0), softmax
  bool diagonal = false;
  Pair pair = Pair::opposed;
  std::string class_weight = "none";  // the rows that differ are of the positive class
  double clip = 0.5;                  // not of softmax and squared
  bool at_point = false;
  long rounds = 1;
  double claim = 1;               // μ of the whole run
  double curvature_share = 0.01;  // of μ²
  double norm = 0;                // of the common point after round 1
  long records = 1;
  long rows_per_person = 0;  // above 1: so many rows differ, and claim is for all of them
};
Scene make_sums_scene(const SumsOptions& options);

Evidence weigh_sums(const Scene& scene, const Transcript& transcript);

// What party 0 would release at f without noise, times the unit.
Vector bare_sums(const Scene& scene, int world, const Vector& f, bool with_curvature);

}  // namespace parley::audit
