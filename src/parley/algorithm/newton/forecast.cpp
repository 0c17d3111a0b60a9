#include "parley/algorithm/newton/forecast.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace parley::algorithm::newton {

Forecast forecast(double nu) {
  // Means over 4 splits and 3 runs of census: 8,000 and 40,000 rows, 2 to 100 parties, epsilon 0.1 to 2.
  constexpr std::array<std::pair<double, double>, 14> table = {{{0, 0},
                                                                {0.005, 0.15},
                                                                {0.01, 0.35},
                                                                {0.015, 0.55},
                                                                {0.03, 1.15},
                                                                {0.05, 1.9},
                                                                {0.075, 2.5},
                                                                {0.12, 3.9},
                                                                {0.17, 4.6},
                                                                {0.24, 6.5},
                                                                {0.32, 7.4},
                                                                {0.5, 9.2},
                                                                {0.6, 9.7},
                                                                {1.2, 11.2}}};
  constexpr double guessing_from = 0.45;  // the smaller class of census is a quarter of the records
  if (nu >= guessing_from) return {.beyond_table = true};
  const auto above = std::ranges::upper_bound(table, nu, {}, &std::pair<double, double>::first);
  const auto [x0, y0] = *std::prev(above);
  const auto [x1, y1] = *above;
  const double points = y0 + (nu - x0) / (x1 - x0) * (y1 - y0);
  return {.points = points, .low = std::max(0.0, 0.65 * points - 0.1), .high = 1.3 * points + 0.3};
}

}  // namespace parley::algorithm::newton
