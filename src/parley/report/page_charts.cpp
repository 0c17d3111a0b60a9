#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "parley/report/drawing/escape.h"
#include "parley/report/drawing/style.h"
#include "parley/report/page.h"

namespace parley::report {
namespace {

using nlohmann::json;

// A button per line: the script hides and shows the line; without it they are the legend.
std::string legend(const Chart& chart) {
  if (chart.lines.size() < 2) return "";
  std::string out = "<div class=\"legend\">";
  for (std::size_t s = 0; s < chart.lines.size(); ++s)
    out += fmt::format(
        "<button type=\"button\" class=\"s{0}\" data-series=\"{1}\" aria-pressed=\"true\"><svg width=\"34\" "
        "height=\"12\" "
        "aria-hidden=\"true\"><g stroke=\"{2}\" fill=\"{2}\"><path d=\"M2 6h30\" fill=\"none\" stroke-width=\"2\" "
        "stroke-dasharray=\"{3}\"/>{4}</g></svg>{5}</button>",
        s % colours, s, colour(s), dashes(s), marker(s, 17, 6, 3.5), escaped(chart.lines[s].name));
  return out + "</div>\n";
}

std::string marked(std::string drawn, const char* kind) {
  return drawn.replace(drawn.find("class=\"chart\""), 13, fmt::format("class=\"chart {}\"", kind));
}

}  // namespace

std::string download(const std::string& file, const std::string& csv, const std::string& words) {
  return fmt::format("<a download=\"{}\" href=\"data:text/csv;charset=utf-8,{}\">{}</a>", escaped(file),
                     percent_encoded(csv), escaped(words));
}

// Drawn twice, for wide and for narrow screens: letters keep their size, and a style sheet shows one of them.
std::string chart_figure(const Figure& figure, std::size_t number) {
  Chart wide = figure.chart, narrow = figure.chart;
  wide.bare = narrow.bare = true;
  wide.width = 560;
  wide.height = 300;
  narrow.width = 360;
  narrow.height = 280;
  return fmt::format(
      "<figure class=\"figure\" id=\"{0}\" data-chart=\"{1}\">\n<figcaption><h3>{2}</h3></figcaption>\n{3}"
      "<div class=\"canvas\" tabindex=\"0\" role=\"group\" aria-label=\"{2}; arrow keys read values\">\n{4}{5}</div>\n"
      "<p class=\"note\">{6} {7}</p>\n</figure>\n",
      escaped(figure.name), number, escaped(figure.chart.title), legend(figure.chart), marked(svg(wide), "wide"),
      marked(svg(narrow), "narrow"), escaped(figure.note), download(figure.name + ".csv", csv(figure.chart), "CSV"));
}

std::string charts_part(const std::vector<Figure>& figures, const std::vector<Group>& groups, Audience audience) {
  std::string out = "<section id=\"charts\">\n<h2>How the run went</h2>\n";
  if (audience == Audience::anyone) {
    out +=
        "<p class=\"aside\">Losses and errors are left out: they were measured on private rows, and the privacy "
        "guarantee does not cover them. Their owner sees them with <code>parley report --private</code>.</p>\n";
    const bool withheld = std::ranges::any_of(groups, [](const Group& g) { return !g.first().guarantee.holds; });
    if (withheld)
      out +=
          "<p class=\"aside\">What a run that is NOT PRIVATE released is covered by no bound either: its disagreement "
          "and movement are left out too.</p>\n";
  }
  if (figures.empty()) out += "<p>There is nothing to draw yet.</p>\n";
  out += "<div class=\"charts\">\n";
  for (std::size_t i = 0; i < figures.size(); ++i) out += chart_figure(figures[i], i);
  return out + "</div>\n</section>\n";
}

json chart_data(const std::vector<Figure>& figures) {
  json charts = json::array();
  const auto numbers = [](const std::vector<double>& values) {
    json all = json::array();
    for (const double v : values) all.push_back(std::isfinite(v) ? json(v) : json());
    return all;
  };
  for (const Figure& f : figures) {
    json lines = json::array(), marks = json::array();
    for (const Line& l : f.chart.lines)
      lines.push_back({{"name", l.name},
                       {"x", numbers(l.x)},
                       {"mean", numbers(l.mean)},
                       {"low", numbers(l.low)},
                       {"high", numbers(l.high)}});
    for (const Mark& m : f.chart.marks) marks.push_back({{"name", m.name}, {"y", m.y}});
    charts.push_back({{"name", f.name}, {"x_label", f.chart.x_label}, {"lines", lines}, {"marks", marks}});
  }
  return {{"charts", charts}};
}

}  // namespace parley::report
