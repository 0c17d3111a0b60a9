// One model on one file of rows: figures and charts as a page for the owner of these rows. Privacy: all of it is
// measured on rows; the page says so first.
#pragma once
#include <string>
#include <vector>

#include "parley/report/drawing/chart.h"

namespace parley::report {

struct QualityPage {
  std::string title, verdict;
  bool good = false;                                         // what the verdict says
  std::vector<std::string> notes;                            // of the model: stamps, how its run ended
  std::vector<std::vector<std::string>> figures, confusion;  // the first row is the head
  std::vector<Chart> charts;
  std::string version;
};
std::string quality_page(const QualityPage& page);

}  // namespace parley::report
