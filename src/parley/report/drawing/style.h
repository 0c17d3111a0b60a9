// How series differ: colour (Okabe and Ito's, told apart by colour-blind readers), dashes and markers, so that colour
// is never the only difference. And the small parts of SVG that charts and graphs share.
#pragma once
#include <string>
#include <string_view>

namespace parley::report {

inline constexpr int colours = 7;  // classes s0 … s6
std::string_view colour(std::size_t series);
std::string_view dashes(std::size_t series);                           // stroke-dasharray; "none"
std::string marker(std::size_t series, double x, double y, double r);  // an element without style

std::string coordinate(double value);                        // two decimals at most
double text_width(std::string_view text, double font_size);  // an estimate, on the wide side

inline constexpr std::string_view font = "system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif";

}  // namespace parley::report
