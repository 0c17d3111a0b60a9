// The two sums over rows of newton and dp-gd: all that touches data there. Both return what may leave: noise included, in
// the public unit, on the public grid.
#pragma once
#include "parley/algorithm/schedule.h"
#include "parley/privacy/random.h"

namespace parley::algorithm::newton {

// What the layout asks for: (C) in packed form, or its diagonal; of the final phase Σ L'' x xᵀ, Σ (L')² x xᵀ and Σ y² at f,
// not cut; (G) at the released point f.
// Privacy: sensitivities √2 + 2e_S, √2 c₁ + 2e_S, √2 + 2e_S, 1 + 2e_S and 2G + 2e (final phase: G = 1), which now.charge
// covers; slopes are cut row by row, by a public number; G has the largest class weight in it. Each vector has noise of its own, and of what is shared a stream.
// What decides whether it goes on is public: sizes and the plan.
Vector noisy_sums(const problem::Problem& problem, const Vector& f, const Layout& of, const Schedule& s,
                  const PrivateRound& now, privacy::Random& random);

}  // namespace parley::algorithm::newton
