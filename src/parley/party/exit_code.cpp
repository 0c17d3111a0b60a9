#include "parley/party/exit_code.h"

#include <array>

#include "parley/ledger/error_codes.h"
#include "parley/problem/solve.h"

namespace parley::party {

using protocol::End;
using protocol::Reason;

std::span<const ExitCode> exit_codes() {
  static constexpr std::array<ExitCode, 7> table{{
      {Exit::completed, "completed", "model and statement are written"},
      {Exit::mistake, "error",
       "the message says what to mend: an option, a file, the port, the ledger, a disk, memory"},
      {Exit::bug, "bug", "please report it; nothing was sent after it"},
      {Exit::stopped, "stopped",
       "the owner decides: the cap ends the run, another party refuses this one, or 'verify' finds something wrong in "
       "this record"},
      {Exit::start_again, "start again", "interrupted, or a peer is lost: the same command goes on where it was"},
      {Exit::never_again, "never again",
       "diverged, equivocation, contradicted, uncertified, abandoned, left behind, no agreement after a loss, or the "
       "past "
       "is unknown: agree on a new study"},
      {Exit::completed_already, "completed already", "an earlier process had the model; this one did nothing new"},
  }};
  return table;
}

Exit exit_of(const protocol::Ending& ending, bool complete_before) {
  const auto judged = [&] {
    switch (ending.end) {
      case End::completed:
        return Exit::completed;
      case End::interrupted:
        return Exit::start_again;
      case End::budget_exhausted:
        return Exit::stopped;
      case End::peer_lost:
        return ending.reason == Reason::left_behind || ending.for_ever ? Exit::never_again : Exit::start_again;
      case End::refused:
        return ending.reason == Reason::past_unknown ? Exit::never_again : Exit::stopped;
      case End::diverged:
      case End::equivocation:
      case End::contradicted:
        return Exit::never_again;
      case End::continued:
        break;
    }
    return Exit::bug;  // a part that others follow does not end a process
  };
  const Exit exit = judged();
  return complete_before && exit != Exit::never_again ? Exit::completed_already : exit;
}

Exit exit_of(const Error& error) {
  const bool uncertified = dynamic_cast<const problem::Uncertified*>(&error) != nullptr;
  return uncertified || error.is(ledger::run_closed) ? Exit::never_again : Exit::mistake;
}

}  // namespace parley::party
