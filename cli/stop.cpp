#include "cli/stop.h"

#include <csignal>

namespace parley::cli {
namespace {

std::atomic<bool> stop_requested{false};

void request_stop(int signal) {
  stop_requested = true;
  if (signal != SIGHUP) std::signal(signal, SIG_DFL);
}

}  // namespace

const std::atomic<bool>& stop_on(std::initializer_list<int> signals) {
  for (const int s : signals)
    if (std::signal(s, request_stop) == SIG_IGN && s == SIGHUP) std::signal(s, SIG_IGN);
  return stop_requested;
}

}  // namespace parley::cli
