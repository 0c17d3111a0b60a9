// The owner's decision that this party takes no further part in a run. What it released stays released and charged; its
// secret for shared noise is deleted, and no later `join` goes on with the run in this folder, nor in any other while the
// folder that the ledger knows for the run stands where it was.
#pragma once
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "parley/ledger/ledger_file.h"

namespace parley::party {

struct Abandoned {
  std::filesystem::path folder;                // of the run
  std::vector<std::filesystem::path> secrets;  // that were deleted
  bool before = false;                         // it had been abandoned already
};

// Of the party `as` in this study; out: where its record is, empty: where join puts it by itself. Error: there is nothing of
// this run, its folder is that of another party or study, nobody can tell whose a secret is, the run is complete, or a
// process is at work on it.
Abandoned abandon(const std::string& study, const std::string& as, const std::string& out);

bool is_abandoned(const std::filesystem::path& folder, const std::string& run);
// Error (ledger::run_closed): this run was abandoned, in this folder or in the one that the ledger knows for it.
void refuse_abandoned(const std::filesystem::path& folder, const std::string& run, const ledger::LedgerFile* book);

}  // namespace parley::party
