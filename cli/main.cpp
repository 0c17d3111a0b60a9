#include <fmt/core.h>

#include <cstdio>
#include <exception>

#include "cli/commands.h"
#include "parley/base/error.h"

int main(int argc, char** argv) {
  using namespace parley::cli;
  try {
    return run_command_line(argc, argv,
                            {train_command(), predict_command(), data_command(), graph_command(), account_command(),
                             check_command(), options_command()});
  } catch (const parley::Error& e) {
    fmt::print(stderr, "parley: {}\n", e.what());
    return exit_mistake;
  } catch (const std::exception& e) {
    fmt::print(stderr, "parley: {}\nNothing further was sent. Please report this with the command you ran.\n",
               e.what());
    return exit_bug;
  }
}
