// What was typed after `parley COMMAND`, read by the command's rows.
#pragma once
#include "cli/command_line/command_line.h"

namespace parley::cli {

// An option that holds yes or no, and a flag, need no value: --resume, --resume=false, --resume true are all read. Throws
// Error for what the command does not take.
Arguments parse(const Command& command, const std::vector<std::string>& typed, const std::vector<Command>& commands);

// For tests of the docs (--parse-only): also that every needed word is there and every value is of its kind and within
// its range. Nothing is run.
void check_values(const Command& command, const Arguments& arguments);

struct WordCount {
  std::size_t least = 0, most = 0;
};
WordCount count_of(const std::string& words);  // "FILE [RECORD…]": 1 or more

}  // namespace parley::cli
