// Pages of help: an overview of all commands, and one page per command or task.
#pragma once
#include "cli/command_line/command_line.h"

namespace parley::cli {

std::string overview(const std::vector<Command>& commands);
// all: every option; otherwise the command's basic ones. task: nullptr, or one of the command's.
std::string help_page(const Command& command, const Task* task, bool all);

}  // namespace parley::cli
