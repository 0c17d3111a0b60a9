// What can be checked of a ledger at any time: its stored bytes, the price of every charge, and that it is not behind
// what was released. Its chain was checked when it was opened.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "parley/ledger/ledger_file.h"

namespace parley::ledger {

struct Checked {
  long charges = 0;                     // recomputed from their parameters
  long verified_only = 0;               // of these: rest on the numerically verified bound, not on a proof
  long releases = 0;                    // stored values whose checksum holds
  long processes = 0;                   // of parties, numbered one after another in each run
  long failed = 0;                      // runs that ended in a failed round: charged like a release, with no value
  std::vector<std::string> accepted{};  // decisions of its owner that it may be an old copy, one sentence each
  std::vector<std::string> wrong;       // one sentence each; empty: all is well
  // Where a run of a dataset has other rows than the one before it, by their fingerprints. Its owner may change rows, and
  // whoever writes the chain anew may put any fingerprint there: no entry shows which.
  std::vector<std::string> other_rows{};
};

// Recomputes every charge from kind and parameters, a failed round's too: it must not be below the proved price. Runs
// that are not private are left out (they count as infinite anyway). All charges of a node in a run are together no more
// than what was registered for it before round 0: ε, μ, and μ against colluders. A failed round stands in the
// ledger for every node of its run; that it comes right after the node's last round, and nothing of the run after it, was checked when the
// ledger was opened.
Checked verify(const LedgerFile& ledger);

// Compares with what a record says was released, [round][node − first]. The ledger must hold every one of these values
// of its own nodes; if it does not, it is older than what was released.
std::vector<std::string> verify_record(const LedgerFile& ledger, const std::string& run_id,
                                       std::span<const std::vector<Vector>> released, int first,
                                       const std::string& where);

// What run.json of a record claims for its run: of one that ended early, the larger of what it spent and its plan.
struct RunClaim {
  double epsilon_colluders = 0, epsilon = 0;  // against the plan's colluders, and against anybody
  double delta = 0;
  long rows_per_person = 0;  // 0: it is for one row
  bool is_private = false;   // otherwise it claims nothing
};
// It may not be below what the run's charges make at its δ, for whom they are. A run that the ledger does not know is told
// by verify_record.
std::vector<std::string> verify_claim(const LedgerFile& ledger, const std::string& run_id, const RunClaim& claim,
                                      const std::string& where);

}  // namespace parley::ledger
