// An axis: which values it spans, where its ticks stand and how they read.
#pragma once
#include <string>
#include <vector>

namespace parley::report {

struct Axis {
  double low = 0, high = 1;
  bool log = false;
  std::vector<double> ticks;
  std::vector<std::string> labels;  // of the ticks; empty: a grid line without a number

  double share(double value) const;  // 0 at low, 1 at high
  bool holds(double value) const;    // finite, and positive on a logarithmic axis
};

// Spans values (those that the axis cannot hold are left out) with about `wanted` ticks at round numbers.
// at_values: the ticks stand at the values themselves, where these are few and their labels find room.
struct AxisWish {
  bool log = false;
  int wanted = 5;
  bool to_ticks = false;  // the ends are ticks (a y axis); otherwise the values (a round number)
  bool whole = false;     // no ticks between whole numbers
  bool at_values = false;
  double room = 600, letter = 7;  // pixels of the axis and of a label's letter
};
Axis make_axis(const std::vector<double>& values, const AxisWish& wish);

std::string short_number(double value);  // 1,200 · 0.05 · 10⁻⁷; for reading, not for computing

}  // namespace parley::report
