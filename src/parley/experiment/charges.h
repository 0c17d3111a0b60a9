// What a planned run costs up to each of its rounds, proved and as the paper prints it, and the noise at which two runs
// cost the same. From the public plan: no rows.
#pragma once
#include "parley/experiment/cell.h"
#include "parley/experiment/measured.h"
#include "parley/run/simulation.h"

namespace parley::experiment {

// By round; the node that spent most.
Curve epsilon_so_far(const algorithm::Plan& plan);
Curve epsilon_paper_so_far(const algorithm::Plan& plan);  // NaN where the paper's conditions fail

// Plans the study anew with the noise rate at which its loss is that of cell.match_target. Error when no rate is.
void match_noise(run::Simulation& simulation, run::TrainOptions& options, const Cell& cell);

}  // namespace parley::experiment
