// Folders in, runs out: finds records at any depth, puts together what one run left in several folders (ranks of an MPI
// job, parties of a study), and reads of each what the audience may see.
#pragma once
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "parley/report/find.h"
#include "parley/report/run.h"

namespace parley::report {

// Error when a folder is not there or holds no record. What is broken in a record is a fault of its Run, no Error.
Run read_planned(const nlohmann::json& record, const View& view);  // of a study that has not begun
void read_noise(Run& run, const nlohmann::json& top);              // of any record's run.json
std::vector<Run> read_runs(const std::vector<std::filesystem::path>& folders, const View& view);

}  // namespace parley::report
