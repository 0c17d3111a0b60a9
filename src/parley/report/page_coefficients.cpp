#include <fmt/format.h>

#include <cmath>

#include "parley/report/page.h"

namespace parley::report {
namespace {

std::string digits(double x) {
  return std::isfinite(x) ? fmt::format("{:.4g}", x) : "-";
}

}  // namespace

// Of the first run of a group alone: each run has its own noise, and the CSV beside it.
std::string coefficients_part(const std::vector<Group>& groups) {
  if (groups.size() != 1 || groups[0].first().coefficients.empty()) return "";
  std::vector<std::vector<std::string>> rows = {
      {"coefficient", "estimate", "standard error", "of it sampling", "95 % interval", "p-value"}};
  for (const CoefficientRow& c : groups[0].first().coefficients) {
    if (!std::isfinite(c.estimate)) {
      rows.push_back({c.name, "not identified at this budget", "", "", "", ""});
      continue;
    }
    rows.push_back({c.name, digits(c.estimate), digits(c.standard_error), digits(c.sampling),
                    digits(c.low) + " to " + digits(c.high), c.p_value < 0.0001 ? "< 0.0001" : digits(c.p_value)});
  }
  return "<section id=\"coefficients\">\n<h2>Coefficients</h2>\n<p class=\"aside\">In the columns' own units. The "
         "intervals count which records there are and the privacy noise. They assume that every party followed the "
         "protocol.</p>\n" +
         table(rows) + "</section>\n";
}

}  // namespace parley::report
