// Ctrl-C: the first ends the work after the current round, with everything that it has; a second one kills.
#pragma once
#include <atomic>
#include <initializer_list>

namespace parley::cli {

// Set by any of these signals from now on.
const std::atomic<bool>& stop_on(std::initializer_list<int> signals);

}  // namespace parley::cli
