#include "parley/report/quality_page.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "parley/report/decision/decision.h"
#include "parley/report/drawing/escape.h"
#include "parley/report/page.h"
#include "parley/report/report.h"

namespace parley::report {
namespace {

Line diagonal(const std::string& name) {
  return {.name = name, .x = {0, 1}, .mean = {0, 1}, .low = {}, .high = {}};
}

}  // namespace

Figure roc_figure(const std::vector<std::pair<std::string, Roc>>& models) {
  Chart chart{.title = "ROC: rows found against false alarms",
              .x_label = "share of negative rows said to be positive",
              .y_label = "share of positive rows that are found",
              .lines = {},
              .marks = {}};
  for (const auto& [name, roc] : models)
    chart.lines.push_back({.name = name, .x = roc.false_alarms, .mean = roc.found, .low = {}, .high = {}});
  chart.lines.push_back(diagonal("guessing"));
  return {.name = "roc",
          .chart = std::move(chart),
          .note =
              "Each point is a threshold. The further the line is above the diagonal, the more the scores say: the "
              "area below it is the AUC."};
}

Figure calibration_figure(const std::vector<std::pair<std::string, std::vector<CalibrationBin>>>& models) {
  Chart chart{.title = "Calibration: is what is predicted true?",
              .x_label = "mean predicted probability of a bin",
              .y_label = "share of its rows for which it is true",
              .points = true,
              .lines = {},
              .marks = {}};
  for (const auto& [name, bins] : models) {
    Line line{.name = name, .x = {}, .mean = {}, .low = {}, .high = {}};
    for (const CalibrationBin& b : bins) {
      line.x.push_back(b.predicted);
      line.mean.push_back(b.observed);
    }
    chart.lines.push_back(std::move(line));
  }
  chart.lines.push_back(diagonal("well calibrated"));
  return {.name = "calibration",
          .chart = std::move(chart),
          .note =
              "A dot on the diagonal: what was said with a probability of 30 % is true in 30 % of the rows. Bins "
              "with few rows lie off it by chance."};
}

std::string quality_page(const QualityPage& p) {
  std::string out = page_head(p.title, p.version);
  out += "<header>\n";
  for (const std::string& note : p.notes)
    out += fmt::format("<p class=\"banner\" role=\"alert\">{}</p>\n", escaped(note));
  out += fmt::format("<h1>{}</h1>\n", escaped(p.title));
  out += "<div class=\"lights\" role=\"note\" aria-label=\"Verdict\">\n" +
         light_part(verdict_on_worth(!p.good, p.verdict)) + "</div>\n";
  out +=
      "<p class=\"audience private\"><strong>Private report.</strong> Every figure is measured on rows, and no budget "
      "paid for it. Keep it where the rows are kept.</p>\n</header>\n";
  out += "<section>\n<h2>Figures</h2>\n" + table(p.figures) + "</section>\n";
  if (!p.confusion.empty())
    out += "<section>\n<h2>What is said of which rows</h2>\n" + table(p.confusion) + "</section>\n";
  if (!p.charts.empty()) out += "<section id=\"charts\">\n<h2>Charts</h2>\n<div class=\"charts\">\n";
  for (std::size_t i = 0; i < p.charts.size(); ++i) out += chart_figure(p.charts[i], i);
  if (!p.charts.empty()) out += "</div>\n</section>\n";
  return out + page_foot(p.version) + "</main>\n" + page_end(p.charts);
}

}  // namespace parley::report
