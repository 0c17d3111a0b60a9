// Where the records are.
#pragma once
#include <filesystem>
#include <vector>

#include "parley/report/released.h"

namespace parley::report {

// A run and the folders it left: one, or those of its ranks, or those of the study's parties that were given.
using Parts = std::vector<Part>;
std::vector<Parts> find_runs(const std::vector<std::filesystem::path>& folders);

}  // namespace parley::report
