#include "parley/report/drawing/style.h"

#include <fmt/format.h>

#include <algorithm>

namespace parley::report {

std::string_view colour(std::size_t series) {
  static constexpr std::string_view okabe_ito[colours] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                          "#E69F00", "#56B4E9", "#444444"};
  return okabe_ito[series % colours];
}

std::string_view dashes(std::size_t series) {
  static constexpr std::string_view patterns[] = {"none", "7 3", "2 3", "9 3 2 3",
                                                  "12 4"};  // 5 and 7 have no common factor
  return patterns[series % std::size(patterns)];
}

std::string coordinate(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string marker(std::size_t series, double x, double y, double r) {
  const auto path = [&](std::initializer_list<std::pair<double, double>> corners) {
    std::string d;
    for (const auto& [dx, dy] : corners)
      d += (d.empty() ? "M" : "L") + coordinate(x + r * dx) + " " + coordinate(y + r * dy);
    return "<path d=\"" + d + "Z\"/>";
  };
  switch (series % 6) {
    case 0:
      return fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\"/>", coordinate(x), coordinate(y), coordinate(r));
    case 1:
      return path({{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}});
    case 2:
      return path({{0, -1.2}, {1.1, 0.8}, {-1.1, 0.8}});
    case 3:
      return path({{0, -1.3}, {1.3, 0}, {0, 1.3}, {-1.3, 0}});
    case 4:
      return path({{0, 1.2}, {1.1, -0.8}, {-1.1, -0.8}});
    default:  // a plus
      return path({{-0.4, -1.2},
                   {0.4, -1.2},
                   {0.4, -0.4},
                   {1.2, -0.4},
                   {1.2, 0.4},
                   {0.4, 0.4},
                   {0.4, 1.2},
                   {-0.4, 1.2},
                   {-0.4, 0.4},
                   {-1.2, 0.4},
                   {-1.2, -0.4},
                   {-0.4, -0.4}});
  }
}

double text_width(std::string_view text, double font_size) {
  const auto letters =
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
  return 0.58 * font_size * static_cast<double>(letters);
}

}  // namespace parley::report
