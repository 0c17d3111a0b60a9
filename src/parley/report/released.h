// What follows from released values alone: how far the centre moves from round to round, and how far nodes are from it.
#pragma once
#include "parley/report/find.h"
#include "parley/report/run.h"

namespace parley::report {

// Fills movement, disagreement (where no line has it) and the nodes' distances. Definitions as in run/iterates.h:
//   centre: peers, the mean of the nodes' last values; star, the trainer's last value
//   at the end, with averaging: of each node the mean of its values in the later half of the data rounds
// Of a run that went on after a loss, those of the parties that are left. Movement also from some nodes alone (a
// party's own record); the others only from all.
void add_released(Run& run, const Sources& sources);

}  // namespace parley::report
