#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <thread>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "parley/base/error.h"
#include "parley/network/ranks.h"

namespace {

// mpirun ends all ranks when one fails, so rank 0 speaks for all; another one only if it is alone with its failure.
std::string rank_in_words() {
  const int rank = parley::network::launched().rank;
  if (rank == 0) return "";
  std::signal(SIGTERM, SIG_DFL);
  std::this_thread::sleep_for(std::chrono::seconds(3));
  return "rank " + std::to_string(rank) + ": ";
}

int run(int argc, char** argv) {
  using namespace parley::cli;
  try {
    const int code = run_command_line(argc, argv, all_commands());
    if (std::fflush(stdout) != 0)
      throw parley::Error(
          {.what = "the output could not be written", .where = "stdout", .fix = "check free space or the pipe"});
    return code;
  } catch (const parley::Error& e) {
    say_error(rank_in_words() + e.what());
    return exit_mistake;
  } catch (const std::bad_alloc&) {
    say_error(
        "there is not enough memory for this\n"
        "  what to do: give the process more (ulimit -v, or the limit of its container), or use smaller files");
    return exit_mistake;
  } catch (const std::system_error& e) {  // the operating system refused: disk full, closed pipe
    say_error(e.what());
    return exit_mistake;
  } catch (const std::exception& e) {
    say_error(e.what() + std::string("\nNothing further was sent. Please report this with the command you ran."));
    return exit_bug;
  }
}

}  // namespace

int main(int argc, char** argv) {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})  // otherwise a ledger or transcript gets it
    if (::fcntl(number, F_GETFD) < 0) ::open("/dev/null", O_RDWR);
  std::signal(SIGXFSZ, SIG_IGN);  // then a write beyond the limit fails like one on a full disk, and says so
  const int code = run(argc, argv);
  if (code != 0) rank_in_words();  // leaves rank 0 the time to say why
  return code;
}
