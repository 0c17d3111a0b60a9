// The records of the parties of a study, checked from outside without a single row (docs/check/verify.md): who signed what,
// whether all were told the same, and whether everything that must follow from released values does, bit for bit.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "parley/base/options.h"

namespace parley::verify {

struct VerifyOptions {
  std::string study;
  std::vector<std::string> ledger;
};
std::vector<Option> option_rows(VerifyOptions& o);

struct VerifiedPart {  // of a run that went on after a loss
  int number = 1;
  std::string run;
  std::vector<std::string> parties;
  int after_round = -1;  // of the part before
  int rounds = 0;        // planned
};

struct VerifiedParty {
  std::string name;
  std::string folder;   // empty: its own record was not given
  std::string outcome;  // as its record says
  bool trainer = false;
  int rounds = 0;  // of messages that it released, as far as is seen
  int rounds_from_rows = 0;
  int recomputed = 0;  // values that were computed again from what was released before
  int parts = 1;       // in which it has released something
  // Found from the plan's charges of these rounds, of all parts together: against the colluders that the study allows
  // for, and against all others together.
  double epsilon = 0, epsilon_all_others = 0;
  double delta = 0;
  // R14. No epsilon is told for one that has signed two things that exclude each other, and none where its record says
  // that it does not know what it has released.
  bool contradicted = false, past_unknown = false;
  bool doubted = false;  // by a record that names it, or some party, and these records do not prove of whom it is so
  bool claims_nothing() const { return contradicted || past_unknown || doubted; }
  std::optional<double> stated, in_ledger;
};

struct Verified {
  std::string title, hash;
  bool noisy = false;
  std::string bound;  // proved, or numerically verified
  std::vector<std::string> not_private;
  std::vector<VerifiedPart> parts;
  std::vector<VerifiedParty> parties;
  double epsilon = 0, delta = 0;       // of any one record or person of any party
  long rows_per_person = 0;            // of a person; 0: it is for one record
  double epsilon_all_others = 0;       // where noise is shared: against all others together; otherwise the same
  std::string against;                 // whom epsilon holds against, where noise is shared; otherwise empty
  std::string several_parties;         // what rows at two of the parties cost as planned; empty: not told
  long messages = 0;                   // whose signature holds
  long compared = 0;                   // values that two or more records hold, the same in all
  std::vector<std::string> accepted;   // by a ledger's owner: that it may be an old copy
  std::vector<std::string> secrets;    // that lie beside these records, and are nobody else's to have
  std::vector<std::string> wrong;      // one sentence each; empty: everything holds
  std::vector<std::string> unchecked;  // what these records do not suffice for
};

// Error: a mistake in what was given; nothing could be checked.
Verified verify(const VerifyOptions& options, const std::vector<std::string>& records);

// What no record can show.
const std::vector<std::string>& beyond_verification();

}  // namespace parley::verify
