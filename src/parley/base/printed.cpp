#include "parley/base/printed.h"

#include <fmt/format.h>

#include <cmath>

namespace parley {

double printed_epsilon_value(double epsilon) {
  if (!std::isfinite(epsilon)) return epsilon;
  constexpr double unit = 1e4, dense = 1e11;  // beyond, doubles are not dense enough for four digits
  if (std::abs(epsilon) >= dense) return std::ceil(epsilon);
  // epsilon · 10⁴ may have been rounded to either side of a whole number: begin one below, and compare what is printed.
  double count = std::floor(epsilon * unit) - 1;
  while (count / unit < epsilon) ++count;
  return count / unit;
}

std::string printed_epsilon(double epsilon) {
  if (std::isnan(epsilon)) return "–";
  if (std::isinf(epsilon)) return epsilon > 0 ? "infinite" : "-infinite";
  return fmt::format("{:.4f}", printed_epsilon_value(epsilon));
}

std::string grouped(long count) {
  std::string digits = std::to_string(count);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

}  // namespace parley
