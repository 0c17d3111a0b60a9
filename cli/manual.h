// Manual pages, from the rows of the commands.
#pragma once
#include <string>
#include <vector>

#include "cli/command_line/command_line.h"

namespace parley::cli {

std::string manual_page(const Command& command);                // parley-train(1)
std::string manual_page(const std::vector<Command>& commands);  // parley(1)

}  // namespace parley::cli
