// The charts of a report: what they show, for whom, and what a reader should take from them.
#pragma once
#include <string>
#include <vector>

#include "parley/report/drawing/chart.h"
#include "parley/report/group.h"

namespace parley::report {

struct Figure {
  std::string name;  // of its files: name.svg, name.csv; and its anchor
  Chart chart;
  std::string note;  // how to read it, under the chart
};

// With at most 2,000 points in a line: every k-th and the last. For the page; the files have all.
Figure thinned(Figure figure);

// Those for which the runs have values; losses and errors are there only in runs read for their owner.
std::vector<Figure> figures(const std::vector<Group>& groups);

}  // namespace parley::report
