// A party's own ledger, held against its record and the plan: the same values, at the planned prices.
#pragma once
#include <filesystem>
#include <vector>

#include "parley/verify/part.h"
#include "parley/verify/verify.h"

namespace parley::verify {

// Over all parts in which its owner has released something. Fills in_ledger of the party whose ledger it is. Error: it
// is no ledger, or is in use.
void check_ledger(const std::vector<SeenPart>& parts, const std::filesystem::path& file, Verified& result);

}  // namespace parley::verify
