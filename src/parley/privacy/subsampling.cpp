#include "parley/privacy/subsampling.h"

#include <cmath>

#include "parley/base/error.h"
#include "parley/privacy/round_up.h"

namespace parley::privacy {

Approximate subsampled(Approximate round, long sample, long rows) {
  expects(0 < sample && sample <= rows, "0 < m ≤ B");
  expects(round.epsilon >= 0 && round.delta >= 0 && round.delta <= 1, "ε ≥ 0 and 0 ≤ δ ≤ 1");
  const long double q = static_cast<long double>(sample) / static_cast<long double>(rows);
  return {.epsilon = round_up(std::log1p(q * std::expm1(static_cast<long double>(round.epsilon)))),
          .delta = round_up(q * round.delta)};
}

}  // namespace parley::privacy
