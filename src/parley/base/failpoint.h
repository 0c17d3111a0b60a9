// Places where a test may end the process. Nothing in the product: only a build with PARLEY_FAILPOINTS (tests/crash,
// tests/mesh) has them, and there the test defines what happens.
#pragma once
#include <string_view>

namespace parley {

#ifdef PARLEY_FAILPOINTS
void failpoint(std::string_view place);
#else
inline void failpoint(std::string_view) {}
#endif

}  // namespace parley
