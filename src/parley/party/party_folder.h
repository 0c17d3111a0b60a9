// The folder of a party's run. Only the transcript in it, with the owner's ledger elsewhere, is what a run is rebuilt
// from (docs/check/protocol-transcript.md, section 8); everything else is derived from the two, and written
// anew at each start.
#pragma once
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "parley/ledger/ledger.h"
#include "parley/record/record.h"

namespace parley::party {

// Where a party's record is: `out`, or what join calls it by itself.
std::filesystem::path own_folder(const std::string& out, const std::string& study_hash, const std::string& party);

// Has this party begun this run there? owner: as the transcript names it. Error, before anything is written: the folder
// holds something else.
bool has_begun(const std::filesystem::path& folder, const std::string& study_hash, const std::string& party,
               const std::string& owner);

// Error: secrets beside a folder of this name would be taken for those of a part of another run.
void check_name(const std::filesystem::path& folder);

// Error: the ledger has rounds of this run that were computed from what others sent, and that is not in this folder.
void refuse_without_transcript(const ledger::LedgerFile& book, const ledger::PlannedRun& run,
                               const std::filesystem::path& folder);

// An earlier process had the model that all parties agreed on; nothing takes its place.
bool has_completed_model(const std::filesystem::path& folder);
// Trap: a round whose minimum could not be certified must not be solved again until it goes well; that would choose the
// noise. The ledger keeps that mark (LedgerFile::check_room); folders of earlier versions have it themselves.
void refuse_uncertified(const std::filesystem::path& folder);

}  // namespace parley::party
