// How long the statistical tests may take. PARLEY_TEST_FULL: 10^5 runs a world and more. PARLEY_TEST_SHORT, for the
// sanitizers: so few that only the bounds are checked, not the power.
#pragma once
#include <cstdlib>

namespace parley::audit {

inline bool is_short() {
  return std::getenv("PARLEY_TEST_SHORT") != nullptr;
}
inline bool is_full() {
  return std::getenv("PARLEY_TEST_FULL") != nullptr;
}

}  // namespace parley::audit
