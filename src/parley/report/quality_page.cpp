#include "parley/report/quality_page.h"

#include <fmt/format.h>

#include "parley/report/drawing/escape.h"
#include "parley/report/page.h"
#include "parley/report/report.h"

namespace parley::report {

std::string quality_page(const QualityPage& p) {
  std::string out = page_head(p.title, p.version);
  out += "<header>\n";
  for (const std::string& note : p.notes)
    out += fmt::format("<p class=\"banner\" role=\"alert\">{}</p>\n", escaped(note));
  out += fmt::format("<h1>{}</h1>\n<p class=\"lead\">The model is {}.</p>\n", escaped(p.title), escaped(p.verdict));
  out +=
      "<p class=\"audience private\"><strong>Private report.</strong> Every figure is measured on rows, and no budget "
      "paid for it. Keep it where the rows are kept.</p>\n</header>\n";
  out += "<section>\n<h2>Figures</h2>\n" + table(p.figures) + "</section>\n";
  if (!p.confusion.empty())
    out += "<section>\n<h2>What is said of which rows</h2>\n" + table(p.confusion) + "</section>\n";
  for (const Chart& chart : p.charts)
    out += fmt::format("<section>\n<figure class=\"chart\">\n{}</figure>\n</section>\n", svg(chart));
  return out + page_foot(p.version) + "</main>\n</body>\n</html>\n";
}

}  // namespace parley::report
