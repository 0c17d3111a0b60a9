// The two sums over rows of newton and dp-gd: all that touches data there. Both return what may leave: noise included, in
// the public unit, on the public grid.
#pragma once
#include "parley/algorithm/schedule.h"
#include "parley/privacy/random.h"

namespace parley::algorithm::newton {

// (C) in packed form, or its diagonal, and behind it (G) at the released point f; later rounds: (G) alone.
// Privacy: sensitivities √2 + 2e_S and 2G + 2e, which now.charge covers; slopes are cut row by row, by a public number.
// What decides whether it goes on is public: sizes and the plan.
Vector noisy_sums(const problem::Problem& problem, const Vector& f, bool with_curvature, const Schedule& s,
                  const PrivateRound& now, privacy::Random& random);

}  // namespace parley::algorithm::newton
