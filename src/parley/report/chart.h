// A chart as data: lines with their range over repeated runs, and horizontal marks (an optimum, a budget).
// Drawn once, as SVG, for reports, papers and experiments alike; and written as CSV.
#pragma once
#include <string>
#include <vector>

namespace parley::report {

struct Line {
  std::string name;
  std::vector<double> x, mean;    // NaN in mean: a gap
  std::vector<double> low, high;  // the range over runs; empty: none
};

struct Mark {
  std::string name;
  double y;
};

struct Chart {
  std::string title, x_label, y_label;
  bool log_x = false, log_y = false;
  bool points = false;  // a dot at each x, the range as a whisker (few x); otherwise a band
  std::vector<Line> lines;
  std::vector<Mark> marks;
};

std::string svg(const Chart& chart);  // stands alone: no script, no font, no style from outside; light background
std::string csv(const Chart& chart);  // series,x,mean,low,high; a mark as a line of its own

}  // namespace parley::report
