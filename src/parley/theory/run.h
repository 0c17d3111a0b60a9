// What the theorems need to know of a planned run: the public schedule and the bounds on the local objectives. No data.
#pragma once
#include <vector>

#include "parley/algorithm/schedule.h"
#include "parley/base/vector.h"

namespace parley::theory {

// One row per private round, W(k) and Θ(k) as their diagonals, and m_i ≤ ∇²O_i ≤ M_i.
struct PublicRun {
  std::vector<Vector> penalty;
  std::vector<Vector> dual_step;
  Vector least_curvature;  // m_i = ρ/N
  Vector most_curvature;   // M_i = C_i c₁ + ρ/N
};

PublicRun run_of(const algorithm::Plan& plan, const algorithm::Setting& setting);

}  // namespace parley::theory
