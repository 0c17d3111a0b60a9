// `parley join` and nothing else of the program: what a party runs, for trees whose compiler makes it slow (make tsan).
#include <exception>

#include "cli/commands.h"
#include "cli/terminal.h"

int main(int argc, char** argv) {
  try {
    return parley::cli::run_command_line(argc, argv, {parley::cli::join_command()});
  } catch (const std::exception& e) {
    parley::cli::say_error(e.what());
    return parley::cli::exit_mistake;
  }
}
