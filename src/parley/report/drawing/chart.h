// A chart as data: lines with their range over repeated runs, horizontal marks (an optimum, a budget) and vertical ones
// (a part begins).
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

struct Step {  // a vertical mark: something changes there
  std::string name;
  double x;
};

struct Chart {
  std::string title, x_label, y_label;
  bool log_x = false, log_y = false;
  bool points = false;  // a dot at each x, the range as a whisker (few x); otherwise a band
  std::vector<Line> lines;
  std::vector<Mark> marks;
  std::vector<Step> steps{};
  std::string note{};  // under the title: what must not be missing where it stands alone
  double width = 720, height = 420;
  bool bare = false;  // without title, note and legend: the page around it has them
};

// Stands alone: no script, no font, no style from outside; light background. Every part has a class too, by which a
// page restyles it (a rule of a style sheet wins over the attributes here), and the group "plot" has the scales for a
// script.
std::string svg(const Chart& chart);
std::string csv(const Chart& chart);  // series,x,mean,low,high; a mark or step as a line of its own

}  // namespace parley::report
