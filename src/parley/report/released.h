// What follows from released values alone: how far the centre moves from round to round, and how far nodes are from it.
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "parley/report/run.h"

namespace parley::report {

// The folder of one process: of a simulation, of a rank of an MPI job, or of a party.
struct Part {
  std::filesystem::path folder;
  nlohmann::json run;
};

// Fills movement, disagreement (where no line has it) and the nodes' distances. Definitions as in run/iterates.h:
//   centre: peers, the mean of the nodes' last values; star, the trainer's last value
//   at the end, with averaging: of each node the mean of its values in the later half of the data rounds
// Movement also from some nodes alone (a party's own record); the others only from all.
void add_released(Run& run, const std::vector<Part>& parts);

}  // namespace parley::report
