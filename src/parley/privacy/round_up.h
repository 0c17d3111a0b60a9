#pragma once
#include <cmath>
#include <limits>

namespace parley::privacy {

static_assert(std::numeric_limits<long double>::digits >= 64, "the margins below are for x87 or binary128 long double");

// The smallest double above x ≥ 0 after its long-double rounding errors (2⁻⁶³ relative each, fewer than 2⁷ of them).
inline double round_up(long double x) {
  const long double bound = x * (1 + 0x1p-56L);
  double d = static_cast<double>(bound);
  while (static_cast<long double>(d) < bound) d = std::nextafter(d, std::numeric_limits<double>::infinity());
  return d;
}

}  // namespace parley::privacy
