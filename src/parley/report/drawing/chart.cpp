#include "parley/report/drawing/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "parley/base/csv.h"
#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/report/drawing/axis.h"
#include "parley/report/drawing/escape.h"
#include "parley/report/drawing/style.h"

namespace parley::report {
namespace {

constexpr double small = 12, line_height = 18;  // pixels
constexpr std::string_view ink = "#1a1a1a", grey = "#595959", faint = "#e2e2e2";

struct Box {
  double left, top, right, bottom;
  bool meets(const Box& b) const { return left < b.right && b.left < right && top < b.bottom && b.top < bottom; }
};

class Drawing {
 public:
  explicit Drawing(const Chart& chart) : c_(chart) {
    for (const Line& line : c_.lines) {
      expects(line.mean.size() == line.x.size(), "a value for each x");
      expects(line.low.size() == line.high.size() && (line.low.empty() || line.low.size() == line.x.size()),
              "a range for each x");
    }
  }

  std::string svg();

 private:
  std::string text(double x, double y, std::string_view anchor, std::string_view kind, std::string_view words) const;
  void head();
  void legend();
  void make_axes();
  std::string grid() const;
  std::string series(std::size_t s) const;
  std::string whiskers(std::size_t s) const;
  std::string band(const Line& line) const;
  std::string stroke(const Line& line) const;
  std::string markers(std::size_t s) const;
  std::string marks() const;
  std::string steps() const;

  bool drawn(const Line& line, std::size_t i) const { return x_.holds(line.x[i]) && y_.holds(line.mean[i]); }
  double px(double x) const { return plot_.left + x_.share(x) * (plot_.right - plot_.left); }
  double py(double y) const { return plot_.bottom - y_.share(y) * (plot_.bottom - plot_.top); }
  double px(std::size_t s, std::size_t i) const {  // whiskers at one x stand beside each other
    const double beside = static_cast<double>(s) - (static_cast<double>(c_.lines.size()) - 1) / 2;
    return px(c_.lines[s].x[i]) + (c_.points ? 5 * beside : 0);
  }
  double below(double y) const { return std::clamp(y_.holds(y) ? py(y) : plot_.bottom, plot_.top, plot_.bottom); }

  const Chart& c_;
  Axis x_, y_;
  Box plot_{};
  std::string head_, legend_;
};

std::string Drawing::text(double x, double y, std::string_view anchor, std::string_view kind,
                          std::string_view words) const {
  return fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\" text-anchor=\"{}\" fill=\"{}\">{}</text>\n", kind,
                     coordinate(x), coordinate(y), anchor, kind == "title" ? ink : grey, escaped(words));
}

// As many rows as its words need at this size.
std::vector<std::string> wrapped(const std::string& words, double size, double width) {
  std::vector<std::string> rows(1);
  for (const auto& word : split_list(words, ' '))
    if (!rows.back().empty() && text_width(rows.back() + " " + word, size) > width)
      rows.push_back(word);
    else
      rows.back() += (rows.back().empty() ? "" : " ") + word;
  return rows;
}

// Title, note and, above the plot, what the y axis shows.
void Drawing::head() {
  double y = 4;
  if (!c_.bare && !c_.title.empty()) {
    for (const auto& row : wrapped(c_.title, 15, c_.width - 20)) {
      y += 20;
      head_ += fmt::format(
          "<text class=\"title\" x=\"10\" y=\"{}\" font-size=\"15\" font-weight=\"600\" fill=\"{}\">{}</text>\n",
          coordinate(y), ink, escaped(row));
    }
    y += 6;
  }
  if (!c_.bare && !c_.note.empty()) {
    for (const auto& row : wrapped(c_.note, small, c_.width - 20)) head_ += text(10, y += 14, "start", "note", row);
    y += 6;
  }
  y += 16;
  head_ += text(10, y, "start", "label", c_.y_label);
  plot_.top = y + 12;
}

// Below the axis: a sample of each line with its name, in as many rows as they need.
void Drawing::legend() {
  plot_.bottom = c_.height - 42;
  const bool ranges = std::ranges::any_of(c_.lines, [](const Line& l) { return !l.low.empty(); });
  if (c_.bare || (c_.lines.size() < 2 && !ranges)) return;
  std::vector<std::string> names;
  for (const Line& line : c_.lines) names.push_back(line.name);
  if (ranges) names.push_back(c_.points ? "whisker: range over runs" : "shaded: range over runs");
  constexpr double sample = 34;
  std::vector<std::pair<double, double>> places;
  double x = 10, row = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const double width = (i < c_.lines.size() ? sample : 0) + text_width(names[i], small) + 16;
    if (x > 10 && x + width > c_.width) {
      x = 10;
      ++row;
    }
    places.emplace_back(x, row);
    x += width;
  }
  const double top = c_.height - 10 - row * line_height;
  plot_.bottom -= (row + 1) * line_height + 6;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const double left = places[i].first, y = top + places[i].second * line_height;
    if (i >= c_.lines.size()) {
      legend_ += text(left, y, "start", "label", names[i]);
      continue;
    }
    legend_ += fmt::format("<g class=\"s{}\" stroke=\"{}\" fill=\"{}\">", i % colours, colour(i), colour(i));
    if (!c_.points)
      legend_ += fmt::format("<path d=\"M{} {}h28\" fill=\"none\" stroke-width=\"2\" stroke-dasharray=\"{}\"/>",
                             coordinate(left), coordinate(y - 4), dashes(i));
    legend_ += marker(i, left + 14, y - 4, 3.5) + "</g>" + text(left + sample, y, "start", "label", names[i]);
  }
}

void Drawing::make_axes() {
  std::vector<double> xs, ys;
  for (const Line& line : c_.lines) {
    xs.insert(xs.end(), line.x.begin(), line.x.end());
    for (const auto* values : {&line.mean, &line.low, &line.high}) ys.insert(ys.end(), values->begin(), values->end());
  }
  for (const Mark& mark : c_.marks) ys.push_back(mark.y);
  y_ = make_axis(ys, {.log = c_.log_y, .wanted = plot_.bottom - plot_.top > 200 ? 5 : 4, .to_ticks = true});
  double widest = 0;
  for (const auto& label : y_.labels) widest = std::max(widest, text_width(label, small));
  plot_.left = 14 + widest;
  const double room = c_.width - 20 - plot_.left;
  x_ = make_axis(xs, {.log = c_.log_x,
                      .wanted = std::max(2, static_cast<int>(room / 90)),
                      .whole = std::ranges::all_of(xs, [](double x) { return x == std::round(x); }),
                      .at_values = c_.points,
                      .room = room});
  // the last tick's label may reach beyond the plot
  plot_.right = c_.width - std::max(10.0, x_.labels.empty() ? 0 : text_width(x_.labels.back(), small) / 2 + 4);
}

std::string Drawing::grid() const {
  std::string lines, labels;
  for (std::size_t i = 0; i < y_.ticks.size(); ++i) {
    const double y = py(y_.ticks[i]);
    lines += fmt::format("M{} {}H{}", coordinate(plot_.left), coordinate(y), coordinate(plot_.right));
    if (!y_.labels[i].empty()) labels += text(plot_.left - 6, y + 4, "end", "tick", y_.labels[i]);
  }
  std::string ticks;
  for (std::size_t i = 0; i < x_.ticks.size(); ++i) {
    const double x = px(x_.ticks[i]);
    ticks += fmt::format("M{} {}v5", coordinate(x), coordinate(plot_.bottom));
    if (!x_.labels[i].empty()) labels += text(x, plot_.bottom + 18, "middle", "tick", x_.labels[i]);
  }
  return fmt::format("<path class=\"grid\" d=\"{}\" stroke=\"{}\" fill=\"none\"/>\n", lines, faint) +
         fmt::format("<path class=\"axis\" d=\"M{} {}H{}{}\" stroke=\"{}\" fill=\"none\"/>\n", coordinate(plot_.left),
                     coordinate(plot_.bottom), coordinate(plot_.right), ticks, grey) +
         labels + text(plot_.right, plot_.bottom + 35, "end", "label", c_.x_label);
}

// One closed outline for each stretch without a gap.
std::string Drawing::band(const Line& line) const {
  std::string d;
  for (std::size_t i = 0; i < line.low.size();) {
    std::size_t end = i;
    const auto has_range = [&](std::size_t k) { return drawn(line, k) && y_.holds(line.high[k]); };
    while (end < line.low.size() && has_range(end)) ++end;
    if (end == i) {
      ++i;
      continue;
    }
    for (std::size_t k = i; k < end; ++k)
      d += fmt::format("{}{} {}", k == i ? "M" : "L", coordinate(px(line.x[k])), coordinate(below(line.high[k])));
    for (std::size_t k = end; k-- > i;)
      d += fmt::format("L{} {}", coordinate(px(line.x[k])), coordinate(below(line.low[k])));
    d += "Z";
    i = end;
  }
  return d.empty() ? "" : fmt::format("<path class=\"band\" d=\"{}\" stroke=\"none\" fill-opacity=\"0.18\"/>\n", d);
}

std::string Drawing::whiskers(std::size_t s) const {
  const Line& line = c_.lines[s];
  std::string d;
  for (std::size_t i = 0; i < line.low.size(); ++i) {
    if (!drawn(line, i) || !y_.holds(line.high[i])) continue;
    const double x = px(s, i), low = below(line.low[i]), high = below(line.high[i]);
    d += fmt::format("M{0} {1}V{2}M{3} {1}h6M{3} {2}h6", coordinate(x), coordinate(low), coordinate(high),
                     coordinate(x - 3));
  }
  return d.empty() ? "" : fmt::format("<path class=\"whisker\" d=\"{}\" fill=\"none\" stroke-width=\"1.4\"/>\n", d);
}

std::string Drawing::stroke(const Line& line) const {
  const auto s = static_cast<std::size_t>(&line - c_.lines.data());
  std::string d;
  bool open = false;
  for (std::size_t i = 0; i < line.x.size(); ++i) {
    if (drawn(line, i))
      d += fmt::format("{}{} {}", open ? "L" : "M", coordinate(px(s, i)), coordinate(py(line.mean[i])));
    open = drawn(line, i);
  }
  return fmt::format(
      "<path class=\"line\" d=\"{}\" fill=\"none\" stroke-width=\"2\" stroke-linejoin=\"round\" "
      "stroke-dasharray=\"{}\"{}/>\n",
      d, dashes(s), c_.points ? " stroke-opacity=\"0.5\"" : "");
}

// Each point where they are few; otherwise about eight along the line, those of other lines at other places.
std::string Drawing::markers(std::size_t s) const {
  const Line& line = c_.lines[s];
  const std::size_t n = line.x.size();
  const std::size_t every = c_.points || n <= 8 ? 1 : (n + 7) / 8;
  const std::size_t first = every == 1 ? 0 : every * (2 * (s % 5) + 1) / 10;
  std::string out;
  for (std::size_t i = 0; i < n; ++i) {
    // A point between two gaps has no line: its marker is all that shows it.
    const bool alone = drawn(line, i) && (i == 0 || !drawn(line, i - 1)) && (i + 1 == n || !drawn(line, i + 1));
    if (alone || (drawn(line, i) && i % every == first)) out += marker(s, px(s, i), py(line.mean[i]), 3.5);
  }
  return "<g class=\"dots\">" + out + "</g>\n";
}

std::string Drawing::series(std::size_t s) const {
  const Line& line = c_.lines[s];
  return fmt::format("<g class=\"series s{}\" data-series=\"{}\" stroke=\"{}\" fill=\"{}\">\n", s % colours, s,
                     colour(s), colour(s)) +
         (c_.points ? whiskers(s) : band(line)) + stroke(line) + markers(s) + "</g>\n";
}

// Where a mark's name stands: the first of four places that meets no other name, and the fewest points of lines.
std::string Drawing::marks() const {
  std::string out;
  std::vector<Box> taken;
  for (const Mark& mark : c_.marks) {
    if (!y_.holds(mark.y)) continue;
    const double y = py(mark.y), width = text_width(mark.name, small);
    const auto cost = [&](const Box& box) {
      double sum = box.top < plot_.top - 14 || box.bottom > plot_.bottom ? 1000 : 0;
      for (const Box& other : taken) sum += box.meets(other) ? 1e6 : 0;
      for (std::size_t s = 0; s < c_.lines.size(); ++s)
        for (std::size_t i = 0; i < c_.lines[s].x.size(); ++i)
          if (const Line& line = c_.lines[s]; drawn(line, i)) {
            const double x = px(s, i), at_mean = py(line.mean[i]);
            const double high = line.high.empty() ? at_mean : below(line.high[i]),
                         low = line.low.empty() ? at_mean : below(line.low[i]);
            sum += box.meets({x - 3, std::min(high, at_mean) - 3, x + 3, std::max(low, at_mean) + 3}) ? 1 : 0;
          }
      return sum;
    };
    Box best{};
    double least = 1e300;
    for (const double left : {plot_.right - width - 2, plot_.left + 4})
      for (const double top : {y - 16, y + 3}) {
        const Box box{left, top, left + width, top + 13};
        if (const double sum = cost(box); sum < least) {
          least = sum;
          best = box;
        }
      }
    taken.push_back(best);
    const bool at_right = best.right > plot_.right - 4;
    out += fmt::format(
        "<path class=\"mark\" d=\"M{} {}H{}\" stroke=\"{}\" stroke-width=\"1.3\" stroke-dasharray=\"5 4\" "
        "fill=\"none\"/>\n",
        coordinate(plot_.left), coordinate(y), coordinate(plot_.right), ink);
    out += fmt::format(
        "<text class=\"mark-name\" x=\"{}\" y=\"{}\" text-anchor=\"{}\" fill=\"{}\" stroke=\"#ffffff\" "
        "stroke-width=\"3\" "
        "stroke-linejoin=\"round\" paint-order=\"stroke\">{}</text>\n",
        coordinate(at_right ? best.right : best.left), coordinate(best.top + 11), at_right ? "end" : "start", ink,
        escaped(mark.name));
  }
  return out;
}

std::string Drawing::steps() const {
  std::string out;
  for (const Step& step : c_.steps) {
    const double x = px(step.x);
    if (!(x >= plot_.left && x <= plot_.right)) continue;
    const bool at_left = x + text_width(step.name, small) + 6 > plot_.right;
    out += fmt::format(
        "<path class=\"mark step\" d=\"M{} {}V{}\" stroke=\"{}\" stroke-width=\"1.3\" stroke-dasharray=\"2 3\" "
        "fill=\"none\"/>\n",
        coordinate(x), coordinate(plot_.top), coordinate(plot_.bottom), ink);
    out += fmt::format(
        "<text class=\"mark-name\" x=\"{}\" y=\"{}\" text-anchor=\"{}\" fill=\"{}\" stroke=\"#ffffff\" "
        "stroke-width=\"3\" stroke-linejoin=\"round\" paint-order=\"stroke\">{}</text>\n",
        coordinate(at_left ? x - 4 : x + 4), coordinate(plot_.bottom - 6), at_left ? "end" : "start", ink,
        escaped(step.name));
  }
  return out;
}

std::string Drawing::svg() {
  head();
  legend();
  make_axes();
  std::string all;
  for (std::size_t s = 0; s < c_.lines.size(); ++s) all += series(s);
  const auto scale = [](const Axis& a) {
    return fmt::format("{} {} {}", number(a.low), number(a.high), a.log ? "log" : "linear");
  };
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
             "height=\"{1}\" role=\"img\" aria-label=\"{2}\" font-family=\"{3}\" font-size=\"{4}\">\n",
             coordinate(c_.width), coordinate(c_.height), escaped(c_.title), font, small) +
         fmt::format("<rect class=\"paper\" width=\"{}\" height=\"{}\" fill=\"#ffffff\"/>\n", coordinate(c_.width),
                     coordinate(c_.height)) +
         head_ + grid() +
         fmt::format("<g class=\"plot\" data-box=\"{} {} {} {}\" data-x=\"{}\" data-y=\"{}\">\n",
                     coordinate(plot_.left), coordinate(plot_.top), coordinate(plot_.right), coordinate(plot_.bottom),
                     scale(x_), scale(y_)) +
         all + marks() + steps() + "</g>\n" + legend_ + "</svg>\n";
}

std::string cell(double value) {
  return std::isfinite(value) ? number(value) : "";
}

}  // namespace

std::string svg(const Chart& chart) {
  return Drawing(chart).svg();
}

std::string csv(const Chart& chart) {
  std::string out = "series,x,mean,low,high\n";
  for (const Line& line : chart.lines)
    for (std::size_t i = 0; i < line.x.size(); ++i)
      out += fmt::format("{},{},{},{},{}\n", spreadsheet_cell(line.name), cell(line.x[i]), cell(line.mean[i]),
                         line.low.empty() ? "" : cell(line.low[i]), line.high.empty() ? "" : cell(line.high[i]));
  for (const Mark& mark : chart.marks) out += spreadsheet_cell(mark.name) + ",," + cell(mark.y) + ",,\n";
  for (const Step& step : chart.steps) out += spreadsheet_cell(step.name) + "," + cell(step.x) + ",,,\n";
  return out;
}

}  // namespace parley::report
