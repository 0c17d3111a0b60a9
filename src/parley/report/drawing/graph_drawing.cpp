#include "parley/report/drawing/graph_drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "parley/base/csv.h"
#include "parley/base/printed.h"
#include "parley/base/text.h"
#include "parley/report/drawing/escape.h"
#include "parley/report/drawing/style.h"
#include "parley/report/words.h"

namespace parley::report {
namespace {

struct Point {
  double x, y;
};

constexpr double width = 560, height = 430, room = 52;
constexpr int shades = 5;
constexpr std::string_view shade_colours[shades] = {"#deebf7", "#b5d0ea", "#7fb0d9", "#3f87c4", "#0b559f"};

std::vector<Point> circle(std::size_t nodes) {
  std::vector<Point> at;
  for (std::size_t i = 0; i < nodes; ++i) {
    const double angle =
        2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(nodes) - std::numbers::pi / 2;
    at.push_back({std::cos(angle), std::sin(angle)});
  }
  return at;
}

// Fruchterman and Reingold 1991: nodes push each other away, edges pull, steps shrink. From the circle, so always the
// same.
void spread_out(std::vector<Point>& at, const std::vector<std::pair<int, int>>& edges) {
  const double k = 1.6 / std::sqrt(static_cast<double>(at.size()));
  constexpr int steps = 150;
  for (int step = 0; step < steps; ++step) {
    std::vector<Point> force(at.size(), {0, 0});
    const auto push = [&](std::size_t i, std::size_t j, double strength) {
      force[i].x += (at[i].x - at[j].x) * strength;
      force[i].y += (at[i].y - at[j].y) * strength;
    };
    for (std::size_t i = 0; i < at.size(); ++i)
      for (std::size_t j = 0; j < at.size(); ++j)
        if (const double d = std::hypot(at[i].x - at[j].x, at[i].y - at[j].y); i != j)
          push(i, j, k * k / std::max(d * d, 1e-6));
    for (const auto& [a, b] : edges) {
      const auto i = static_cast<std::size_t>(a), j = static_cast<std::size_t>(b);
      const double d = std::hypot(at[i].x - at[j].x, at[i].y - at[j].y);
      push(i, j, -d / k);
      push(j, i, -d / k);
    }
    const double longest = 0.15 * (1 - static_cast<double>(step) / steps);
    for (std::size_t i = 0; i < at.size(); ++i) {
      const double length = std::hypot(force[i].x, force[i].y);
      if (length == 0) continue;
      at[i].x += force[i].x / length * std::min(length, longest);
      at[i].y += force[i].y / length * std::min(length, longest);
    }
  }
}

std::vector<Point> layout(const Run& run) {
  const std::size_t n = run.nodes.size(), leaves = n - 1;
  std::vector<int> degree(n, 0);
  for (const auto& [a, b] : run.edges) {
    ++degree[static_cast<std::size_t>(a)];
    ++degree[static_cast<std::size_t>(b)];
  }
  const auto hub = std::ranges::find(degree, static_cast<int>(leaves));
  std::vector<Point> at;
  if (n > 3 && run.edges.size() == leaves && hub != degree.end()) {  // a star, whoever is in its middle
    at = circle(leaves);
    at.insert(at.begin() + (hub - degree.begin()), Point{0, 0});
  } else {
    at = circle(n);
    const bool ring = std::ranges::all_of(degree, [](int d) { return d == 2; });
    const bool dense = run.edges.size() * 6 > n * leaves;  // forces would draw a knot
    if (n > 6 && !ring && !dense) spread_out(at, run.edges);
  }
  const auto [left, right] = std::ranges::minmax(at, {}, &Point::x);
  const auto [top, bottom] = std::ranges::minmax(at, {}, &Point::y);
  const double wide = std::max(right.x - left.x, 1e-9), high = std::max(bottom.y - top.y, 1e-9);
  const double scale = std::min((width - 2 * room) / wide, (height - 2 * room) / high);
  for (Point& p : at)
    p = {width / 2 + (p.x - (left.x + right.x) / 2) * scale, height / 2 - 6 + (p.y - (top.y + bottom.y) / 2) * scale};
  return at;
}

std::string node_name(const Node& node, std::size_t i) {
  return !node.name.empty() ? node.name : node.trainer ? "trainer" : "node " + std::to_string(i);
}

// What finds room at a node, from the smallest distance between two.
struct Letters {
  double r = 16;
  bool number = true, below = true;
  std::string of_all;  // in place of what is not written below
};

Letters letters_for(const std::vector<Point>& at, const Run& run) {
  double closest = 200;
  for (std::size_t i = 0; i < at.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) closest = std::min(closest, std::hypot(at[i].x - at[j].x, at[i].y - at[j].y));
  Letters letters{.r = std::clamp(0.42 * closest, 3.0, 16.0), .number = closest >= 22, .below = closest >= 58};
  if (letters.below) return letters;
  std::vector<double> losses;
  for (const Node& n : run.nodes) losses.push_back(n.epsilon);
  const Spread s = spread(losses);
  if (s.count > 0 && !run.void_claims.any())
    letters.of_all = s.high - s.low < 5e-5 ? "ε = " + printed_epsilon(s.high) + " at every node"
                                           : "ε from " + printed_epsilon(s.low) + " to " + printed_epsilon(s.high);
  return letters;
}

std::string legend(const Spread& range, const Letters& letters) {
  std::string out, words;
  double x = 12;
  if (range.count > 0) {
    for (int s = 0; s < shades; ++s, x += 22)
      out += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"22\" height=\"10\" fill=\"{}\"/>", coordinate(x),
                         coordinate(height - 20), shade_colours[s]);
    x += 8;
    words = fmt::format("distance from the model: {} to {}", value_text(range.low), value_text(range.high));
  }
  if (!letters.of_all.empty()) words += (words.empty() ? "" : "; ") + letters.of_all;
  return out + fmt::format("<text class=\"label\" x=\"{}\" y=\"{}\" fill=\"#595959\">{}</text>\n", coordinate(x),
                           coordinate(height - 11), words);
}

std::string node_svg(const Node& node, std::size_t i, Point p, double distance, const Spread& range,
                     const Letters& letters, const std::string& mark) {
  const bool known = std::isfinite(distance), one_shade = !known || range.high <= range.low;
  const double share = one_shade ? 0.3 : (distance - range.low) / (range.high - range.low);
  const int shade = std::min(shades - 1, static_cast<int>(shades * share));
  const bool dark = known && shade >= 3 && !node.trainer;
  std::string tip = node_name(node, i);
  if (!node.trainer) tip += ": " + count_text(node.records) + " records, ε = " + printed_epsilon(node.epsilon) + mark;
  if (known) tip += ", distance " + value_text(distance);
  std::string out = fmt::format("<g class=\"node\" data-tip=\"{0}\"><title>{0}</title>", escaped(tip));
  const std::string_view fill = node.trainer || !known ? "#f2f2f2" : shade_colours[shade];
  const double r = letters.r;
  if (node.trainer)
    out += fmt::format("<rect x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{2}\" fill=\"{3}\" stroke=\"#444444\"/>",
                       coordinate(p.x - r), coordinate(p.y - r), coordinate(2 * r), fill);
  else
    out += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\" stroke=\"#444444\"/>", coordinate(p.x),
                       coordinate(p.y), coordinate(r), fill);
  if (letters.number)
    out += fmt::format(
        "<text class=\"{}\" x=\"{}\" y=\"{}\" text-anchor=\"middle\" font-size=\"{}\" font-weight=\"600\" "
        "fill=\"{}\">{}</text>",
        dark ? "on-dark" : "on-light", coordinate(p.x), coordinate(p.y + 4), r < 13 ? 10 : 12,
        dark ? "#ffffff" : "#1a1a1a", node.trainer && node.name.empty() ? "T" : std::to_string(i));
  std::vector<std::string> below;
  if (!node.name.empty()) below.push_back(node.name.size() > 18 ? node.name.substr(0, 17) + "…" : node.name);
  if (node.trainer && node.name.empty()) below.push_back("trainer");
  if (std::isfinite(node.epsilon)) below.push_back("ε " + printed_epsilon(node.epsilon));
  for (std::size_t row = 0; row < below.size() && letters.below; ++row)
    out += fmt::format(
        "<text class=\"below\" x=\"{}\" y=\"{}\" text-anchor=\"middle\" font-size=\"11\" fill=\"#333333\" "
        "stroke=\"#ffffff\" stroke-width=\"3\" stroke-linejoin=\"round\" paint-order=\"stroke\">{}</text>",
        coordinate(p.x), coordinate(p.y + r + 14 + 14 * static_cast<double>(row)), escaped(below[row]));
  return out + "</g>\n";
}

}  // namespace

std::vector<double> mean_distances(const Group& group) {
  std::vector<double> means;
  for (std::size_t i = 0; i < group.first().nodes.size(); ++i)
    means.push_back(
        over_runs(group, [&](const Run& r) { return i < r.nodes.size() ? r.nodes[i].distance : absent; }).mean);
  return means;
}

std::string graph_svg(const Group& group) {
  const Run& run = group.first();
  const auto at = layout(run);
  const auto distances = mean_distances(group);
  const Spread range = spread(distances);
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"graph\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "role=\"img\" aria-label=\"graph of {2} nodes and {3} edges\" font-family=\"{4}\" font-size=\"12\">\n"
      "<rect class=\"paper\" width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
      coordinate(width), coordinate(height), run.nodes.size(), run.edges.size(), font);
  std::string d;
  for (const auto& [a, b] : run.edges) {
    const Point &p = at[static_cast<std::size_t>(a)], &q = at[static_cast<std::size_t>(b)];
    d += fmt::format("M{} {}L{} {}", coordinate(p.x), coordinate(p.y), coordinate(q.x), coordinate(q.y));
  }
  out += fmt::format("<path class=\"edges\" d=\"{}\" fill=\"none\" stroke=\"#8a8a8a\" stroke-opacity=\"{}\"/>\n", d,
                     run.edges.size() > 300 ? "0.25" : "0.7");
  const Letters letters = letters_for(at, run);
  const std::string mark = mark_of({&group, 1});
  for (std::size_t i = 0; i < run.nodes.size(); ++i)
    out += node_svg(run.nodes[i], i, at[i], distances[i], range, letters, in_brackets(mark));
  if (!mark.empty())
    out += fmt::format("<text class=\"label\" x=\"12\" y=\"18\" font-weight=\"600\" fill=\"#1a1a1a\">ε: {}</text>\n",
                       escaped(mark));
  return out + legend(range, letters) + "</svg>\n";
}

std::string nodes_csv(const Group& group) {
  const auto cell = [](double v) { return std::isfinite(v) ? number(v) : std::string(); };
  const auto distances = mean_distances(group);
  std::string out =
      "node,name,records,neighbours," + csv_cell("epsilon" + in_brackets(mark_of({&group, 1}))) + ",distance\n";
  for (std::size_t i = 0; i < group.first().nodes.size(); ++i) {
    const Node& n = group.first().nodes[i];
    out += fmt::format("{},{},{},{},{},{}\n", i, spreadsheet_cell(n.trainer && n.name.empty() ? "trainer" : n.name),
                       cell(n.records), cell(n.degree), cell(n.epsilon), cell(distances[i]));
  }
  return out;
}

std::string edges_csv(const Group& group) {
  std::string out = "node,neighbour\n";
  for (const auto& [a, b] : group.first().edges) out += fmt::format("{},{}\n", a, b);
  return out;
}

}  // namespace parley::report
