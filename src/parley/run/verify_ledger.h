// A party's own ledger, held against its record and the plan: the same values, at the planned prices.
#pragma once
#include <filesystem>

#include "parley/run/replay.h"
#include "parley/run/verify.h"

namespace parley::run {

// values: by origin, as released. Fills in_ledger of the party whose ledger it is. Error: it is no ledger, or is in
// use.
void check_ledger(const Basis& basis, const std::filesystem::path& file, const Values& values, Verified& result);

}  // namespace parley::run
