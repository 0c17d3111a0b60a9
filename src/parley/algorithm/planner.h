// What the user left open, filled in before data is touched: from (ε, δ), sizes and graph to noise, place and
// penalties. The rule of thumb (docs/planner.md): Gaussian noise in the objective where that is proved, split evenly
// over the private rounds; penalties such that the noise moves the least curved direction by σ/κ = 0.75 at every node,
// one common dual step, damping 8κ; the model is the average of the released iterates over the later half of the
// rounds, which is free.
#pragma once
#include "parley/algorithm/schedule.h"

namespace parley::algorithm {

inline constexpr double default_delta = 1e-5, usual_regularization = 0.22;

// Every "auto" and empty list replaced by what it stands for. Throws Error for contradictions.
Options fill_in(const Options& given, const Setting& setting);

problem::Loss loss_of(const Options& o, int classes = 2);

// The share of --regularization that stands on ‖f‖₁.
double l1_share(const Options& o);

// C_i/B_i, by --weighting.
double record_weight(const Options& o, const Setting& setting, int node);

}  // namespace parley::algorithm
