// Cells that are numbers, the usual ones without a library call and with the same bits.
#pragma once
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "parley/base/text.h"

namespace parley::data {

// True for what looks like -12.5: at most 15 digits, at most 15 of them after the point. Then m = the digits is exact
// in a double, and so is 10^k; IEEE division rounds m / 10^k once, which is the double nearest to the decimal, as
// std::from_chars gives. Anything else is left to parse_number.
inline bool plain_number(std::string_view cell, double& x) {
  static constexpr std::array<double, 16> ten{1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                              1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  const bool minus = !cell.empty() && cell.front() == '-';
  if (minus) cell.remove_prefix(1);
  if (cell.empty() || cell.size() > 16 || cell.front() == '.' || cell.back() == '.') return false;
  std::int64_t digits = 0;
  std::size_t after = 0, count = 0;
  bool point = false;
  for (const char c : cell) {
    if (c >= '0' && c <= '9') {
      digits = 10 * digits + (c - '0');
      ++count;
      after += point ? 1 : 0;
    } else if (c == '.' && !point) {
      point = true;
    } else {
      return false;
    }
  }
  if (count == 0 || count > 15) return false;
  x = static_cast<double>(digits) / ten[after];
  if (minus) x = -x;
  return true;
}

// What parse_number takes.
inline bool any_number(std::string_view cell, double& x) {
  if (plain_number(cell, x)) return true;
  cell = trim(cell);
  if (cell.starts_with('+')) cell.remove_prefix(1);
  const auto [end, code] = std::from_chars(cell.data(), cell.data() + cell.size(), x);
  return code == std::errc{} && end == cell.data() + cell.size() && std::isfinite(x);
}

}  // namespace parley::data
