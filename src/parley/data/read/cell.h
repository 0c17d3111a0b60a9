// What encoding a cell has in common for all columns and the label: numbers, bounds, words of an Error.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/data/read/cell_number.h"
#include "parley/data/read/csv_layout.h"
#include "parley/data/schema.h"

namespace parley::data {

using Cell = std::string_view;

inline std::string abbreviated(const std::vector<std::string>& values) {
  constexpr std::size_t most = 8;
  if (values.size() <= most) return "'" + join(values, "', '") + "'";
  const std::vector<std::string> first(values.begin(), values.begin() + most);
  return "'" + join(first, "', '") + "', ... (" + std::to_string(values.size()) + " in all)";
}

// x, or the nearer bound, or an Error.
inline double in_range(double x, const Bounds& b, OutOfRange policy, const std::string& what, const Place& where) {
  if (x >= b.low && x <= b.high) return x;
  if (policy == OutOfRange::clip) return std::clamp(x, b.low, b.high);
  throw Error({.what = what + " is out of range",
               .value = number(x),
               .allowed = number(b.low) + " to " + number(b.high),
               .where = where.text(),
               .fix = "correct the cell, or all parties set out_of_range = \"clip\""});
}

inline std::string quoted(Cell cell) {
  return "'" + std::string(cell) + "'";
}

// "did you mean 'yes'? ", before what to do otherwise.
inline std::string meant(Cell cell, const std::vector<std::string>& known, const std::string& otherwise) {
  const std::string near = nearest(cell, known);
  return near.empty() ? otherwise : "did you mean '" + near + "'? " + otherwise;
}

inline double number_of(Cell cell, const std::string& what, const Place& where) {
  double x = 0;
  return any_number(cell, x) ? x : parse_number(cell, what, where.text());
}

}  // namespace parley::data
