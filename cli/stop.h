// Ctrl-C: the first ends the work after the current round, with everything that it has; a second one kills.
#pragma once
#include <atomic>
#include <initializer_list>

namespace parley::cli {

// Set by any of these signals from now on. SIGHUP comes twice when a terminal is closed (from the system and from the
// shell) and stays ignored where it is (nohup).
const std::atomic<bool>& stop_on(std::initializer_list<int> signals);

}  // namespace parley::cli
