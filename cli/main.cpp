#include <fmt/core.h>

#include <cstdio>
#include <exception>
#include <system_error>

#include "cli/commands.h"
#include "parley/base/error.h"

int main(int argc, char** argv) {
  using namespace parley::cli;
  try {
    const int code = run_command_line(
        argc, argv,
        {train_command(), predict_command(), data_command(), graph_command(), account_command(), plan_command(),
         check_command(), ledger_command(), keys_command(), study_command(), options_command()});
    if (std::fflush(stdout) != 0)
      throw parley::Error(
          {.what = "the output could not be written", .where = "stdout", .fix = "check free space or the pipe"});
    return code;
  } catch (const parley::Error& e) {
    fmt::print(stderr, "parley: {}\n", e.what());
    return exit_mistake;
  } catch (const std::system_error& e) {  // the operating system refused: disk full, closed pipe
    fmt::print(stderr, "parley: {}\n", e.what());
    return exit_mistake;
  } catch (const std::exception& e) {
    fmt::print(stderr, "parley: {}\nNothing further was sent. Please report this with the command you ran.\n",
               e.what());
    return exit_bug;
  }
}
