// What stands between a user's command and the first round: everything that may be refused is refused here, in all
// processes alike, before anything is written.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "parley/network/ranks.h"
#include "parley/record/record.h"
#include "parley/run/resume.h"

namespace parley::run {

void check_options(TrainOptions options);
void check_budget(const TrainOptions& options);  // Error where nobody has decided how much privacy there is
std::string default_folder(const std::string& algorithm);

struct OpenRun {                               // of this process
  std::shared_ptr<ledger::LedgerFile> book{};  // its owner's; null: in memory
  std::string resumed_id{};                    // of the run in it; empty: a new one
  std::string job_id{};                        // of several ranks: by which their records know each other
  std::unique_ptr<record::Lock> lock{};        // of the run that is resumed
  std::optional<Unfinished> unfinished{};      // what it left
};
// Adds the ledgers' warnings to the plan. `out`: of the whole run; rank 0 makes it.
OpenRun open_run(Simulation& simulation, const TrainOptions& options, const std::string& out, network::Ranks& ranks);

}  // namespace parley::run
