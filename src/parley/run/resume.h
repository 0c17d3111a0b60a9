// How a run meets its owner's ledger and its own past (docs/operate/resume.md). Nothing here reads data to release
// it: what was released is on disk, and a resumed run takes it from there.
#pragma once
#include <optional>
#include <string>

#include "parley/ledger/ledger.h"
#include "parley/record/record.h"
#include "parley/run/simulation.h"

namespace parley::run {

// What a run is going to charge to the owner's ledger: in a simulation all nodes hold parts of one dataset. resumed_id: of
// the run that goes on; empty: a new one.
ledger::PlannedRun planned_run(const Simulation& simulation, const TrainOptions& o, const ledger::LedgerFile& book,
                               const std::string& resumed_id);

// An unfinished run, as its earlier processes left it.
struct Unfinished {
  std::string run_id;  // in the ledger; empty: it was charged to none
  record::Record record;
  std::string warning{};  // what could not be compared
};

// Error unless the folder holds an unfinished run with these options on data of this size that was charged to this
// ledger (book; null: to none), and the ledger has every value of the record, bit for bit.
Unfinished find_unfinished(const Simulation& simulation, const TrainOptions& o, const std::string& folder,
                           const ledger::LedgerFile* book);

// Error where several ranks' pasts are not those of one run: then a rank has lost what it released (R7), and going on
// would release it a second time. Of each rank: rounds in its record, in its ledger (nothing: there is none), and the
// job that its record says. A rank pays for a round after all have recorded the one before, and records it after all
// have paid for it.
struct RankPast {
  double recorded = 0;
  std::optional<double> paid{};
  std::string job{};  // empty: it has no record
};
void check_pasts(const std::vector<RankPast>& ranks, const std::string& folder);

// What earlier processes of this run released: from the record, and from the ledger where that is ahead.
class PastReleases {
 public:
  PastReleases(const Simulation& simulation, Unfinished run, const ledger::Ledger& ledger)
      : simulation_(simulation), ledger_(ledger), record_(std::move(run.record)) {}

  record::Kept kept() const { return record_.kept(); }

  std::optional<privacy::Release> release(int node, int round) const;

 private:
  const Simulation& simulation_;
  const ledger::Ledger& ledger_;
  record::Record record_;
};

}  // namespace parley::run
