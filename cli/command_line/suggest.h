// What a person meant who typed what no command or option is called.
#pragma once
#include "cli/command_line/command_line.h"

namespace parley::cli {

[[noreturn]] void refuse_command(const std::string& typed, const std::vector<Command>& commands);
[[noreturn]] void refuse_task(const Command& command, const std::string& typed);  // "" : none was given
[[noreturn]] void refuse_option(const Command& command, const std::string& typed, const std::vector<Command>& commands);
// A word where only options may stand. before: the option whose value precedes it, or "".
[[noreturn]] void refuse_word(const Command& command, const std::string& word, const std::string& before);

std::string called(const Command& command);  // "parley ledger"

}  // namespace parley::cli
