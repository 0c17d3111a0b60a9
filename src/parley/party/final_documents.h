// What a party writes down when its run ends: models, its signed statement, and the last word of its record. Where it
// cannot know what it has released it writes no claim at all; and a model that all have agreed on is never replaced.
#pragma once
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>

#include "parley/party/participant.h"
#include "parley/party/parts_on_disk.h"
#include "parley/study/statement.h"

namespace parley::party {

nlohmann::json record_header(const Participant& participant, const PartsOnDisk& parts, const std::string& outcome);

struct EndOfParty {
  protocol::Ending ending;
  std::set<int> contradicted{};                           // nodes of the study, by the evidence that is kept here
  bool past_confirmed = false;                            // protocol::Exchange
  int rounds_done = -1;                                   // in the last part
  Vector model, own;                                      // model: of all, of the trainer, or its own
  const algorithm::newton::Estimate* estimate = nullptr;  // of a complete run with intervals
};
struct DocumentsWritten {
  std::optional<study::Spent> spent;  // what the statement claims
  bool model = false;
};
DocumentsWritten write_final_documents(const Participant& participant, PartsOnDisk& parts,
                                       const std::filesystem::path& folder, const EndOfParty& end);

}  // namespace parley::party
