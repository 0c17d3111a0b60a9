// The exit codes of `parley join`: what whoever started it does next. One table, for the program, for join --help and
// for docs/operate/exit-codes.md (tests/mesh/ends_test.py compares them).
#pragma once
#include <span>
#include <string_view>

#include "parley/base/error.h"
#include "parley/protocol/exchange.h"

namespace parley::party {

enum class Exit : int { completed, mistake, bug, stopped, start_again, never_again, completed_already };

struct ExitCode {
  Exit code;  // as a number
  std::string_view name, meaning;
};
std::span<const ExitCode> exit_codes();

// complete_before: an earlier process had the model, and this one did nothing new.
Exit exit_of(const protocol::Ending& ending, bool complete_before);
Exit exit_of(const Error& error);

}  // namespace parley::party
