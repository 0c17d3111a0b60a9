// A run in parts: after a loss the survivors go on in a part of their own (docs/check/protocol-parts.md, section 11).
// Everything here is a function of the study, the public plan and what the survivors have signed, so that all of
// them find the same; no data is in scope.
// Privacy: all parts together cost a record at most what the study planned for the whole run
// (docs/proofs/run-in-parts.md, proposition 9): what was charged stays charged, and the plan of the next part is made for what is left.
#pragma once
#include <string>
#include <vector>

#include "parley/algorithm/schedule.h"
#include "parley/algorithm/start.h"
#include "parley/ledger/spend.h"
#include "parley/protocol/agreement.h"
#include "parley/protocol/survivors.h"

namespace parley::study {

struct Part {
  int number = 1;
  std::vector<int> nodes;  // of the study, by node number in this part; the trainer stays last
  protocol::Agreement agreed;
  algorithm::Setting setting;
  algorithm::Plan plan;
  int before = 0;        // rounds of the earlier parts from which this one goes on
  int sums = 0;          // of them, rounds of sums that everybody has
  int whole_rounds = 0;  // of the study
  // By holder of records, in the units of ledger::Spend: what the whole run may cost, and what earlier parts did.
  struct Account {
    std::vector<double> allowance;
    std::vector<ledger::Spend> spent;
  };
  // Against the colluders that the study allows for, and against all others together: the same where no noise is shared.
  Account colluders{}, anybody{};

  int holders() const { return static_cast<int>(plan.nodes.size()); }
  int node_of(int study_node) const;  // −1: it does not take part
};

Part first_part(protocol::Agreement agreed, algorithm::Setting setting, algorithm::Plan plan);

// The plan that the survivors would follow. Error: there is none within what is left; then they stop.
Part next_part(const Part& before, const protocol::Succession& next);

// Does a release of this round count in the final iterate, which is a mean over the whole run?
bool counts_in_final(const Part& part, int round);

// Where this party's node begins in the next part. own, inboxes: of the part before, from its ledger and transcript.
struct Ended {
  const Part& part;
  const protocol::Succession& next;
  int self;  // node number in it
  algorithm::Start start;
  std::vector<Vector> own;
  std::vector<privacy::Inbox> inboxes;
};
algorithm::Start start_after(const Part& next, const Ended& ended);
// The neighbours' values of round 0 of the next part, where they are known.
privacy::Inbox expected_after(const Part& next, const Ended& ended);

// What this node pays for in this part, from the plan: of all rounds, or of those through `round`.
std::vector<privacy::Charge> charges(const Part& part, int node, long through = -1);

// The name of a part's stream of noise; in a seeded run no noise is drawn twice.
std::string noise_of_part(int part);

}  // namespace parley::study
