// What a model is worth on rows, drawn; and one model on one file of rows as a page for the owner of these rows. Privacy:
// all of it is measured on rows; the page says so first.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "parley/report/figures.h"

namespace parley::report {

// Shares of the positive rows that are found (y) against false alarms (x), from (0, 0) to (1, 1).
// A line for each model, by its name.
Figure roc_figure(const std::vector<std::pair<std::string, Roc>>& models);
// A line of bins for each model, by its name.
Figure calibration_figure(const std::vector<std::pair<std::string, std::vector<CalibrationBin>>>& models);

struct QualityPage {
  std::string title, verdict;
  bool good = false;                                         // what the verdict says
  std::vector<std::string> notes;                            // of the model: stamps, how its run ended
  std::vector<std::vector<std::string>> figures, confusion;  // the first row is the head
  std::vector<Figure> charts;
  std::string version;
};
std::string quality_page(const QualityPage& page);

}  // namespace parley::report
