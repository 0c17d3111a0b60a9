#include "parley/report/drawing/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace parley::report {
namespace {

std::string superscript(int exponent) {
  static const char* const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = exponent < 0 ? "⁻" : "";
  for (const char c : std::to_string(std::abs(exponent))) text += digits[c - '0'];
  return text;
}

std::string grouped(std::string digits) {  // 12345.6 → 12,345.6
  const auto point = std::min(digits.find('.'), digits.size());
  const std::size_t begin = digits.starts_with('-') ? 1 : 0;
  for (std::size_t at = point; at > begin + 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string with_decimals(double value, int decimals) {
  const std::string text = fmt::format("{:.{}f}", value == 0 ? 0.0 : value, decimals);
  return grouped(text);
}

// 1, 2 or 5 times a power of ten, at least `rough`.
double nice_step(double rough) {
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

void linear_ticks(Axis& axis, double low, double high, const AxisWish& wish) {
  const double rough = nice_step((high - low) / wish.wanted), step = wish.whole ? std::max(1.0, rough) : rough;
  const double first = std::floor(low / step + 1e-9), last = std::ceil(high / step - 1e-9);
  if (wish.to_ticks) {
    low = first * step;
    high = last * step;
  }
  axis.low = low;
  axis.high = high;
  const int decimals = std::max(0, static_cast<int>(-std::floor(std::log10(step) + 1e-9)));
  for (double k = first; k <= last; ++k) {
    const double tick = k * step;
    if (tick < low - 1e-9 * step || tick > high + 1e-9 * step) continue;
    axis.ticks.push_back(tick);
    const bool plain = decimals <= 5 && std::abs(high) < 1e7 && std::abs(low) < 1e7;
    axis.labels.push_back(plain ? with_decimals(tick, decimals) : short_number(tick));
  }
}

void log_ticks(Axis& axis, double low, double high, const AxisWish& wish) {
  const double from = std::floor(std::log10(low) + 1e-9), to = std::ceil(std::log10(high) - 1e-9);
  const double decades = to - from;
  // The ends: whole decades where there are several, else the next 1, 2 or 5.
  const std::vector<double> factors = decades <= 2 ? std::vector<double>{1, 2, 5} : std::vector<double>{1};
  const double every = std::max(1.0, std::ceil(decades / (wish.wanted + 1)));
  std::vector<double> all;
  for (double k = from - 1; k <= to + 1; ++k)
    for (const double factor : factors) all.push_back(factor * std::pow(10.0, k));
  if (wish.to_ticks) {
    low = *std::find_if(all.rbegin(), all.rend(), [&](double t) { return t <= low * (1 + 1e-9); });
    high = *std::ranges::find_if(all, [&](double t) { return t >= high * (1 - 1e-9); });
  }
  axis.low = low;
  axis.high = high;
  for (const double tick : all) {
    if (tick < low * (1 - 1e-9) || tick > high * (1 + 1e-9)) continue;
    axis.ticks.push_back(tick);
    const double decade = std::round(std::log10(tick));
    axis.labels.push_back(factors.size() > 1 || std::fmod(decade - from, every) == 0 ? short_number(tick) : "");
  }
}

bool ticks_at(Axis& axis, std::vector<double> values, const AxisWish& wish) {
  std::ranges::sort(values);
  values.erase(std::ranges::unique(values).begin(), values.end());
  if (values.size() > 12) return false;
  std::vector<std::string> labels;
  double end = -1e300;
  for (const double v : values) {
    labels.push_back(fmt::format("{:.4g}", v));
    const double width = static_cast<double>(labels.back().size()) * wish.letter;
    const double middle = axis.share(v) * wish.room;
    if (middle - width / 2 < end + wish.letter) return false;
    end = middle + width / 2;
  }
  axis.ticks = values;
  axis.labels = labels;
  return true;
}

}  // namespace

double Axis::share(double value) const {
  return log ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
}

bool Axis::holds(double value) const {
  return std::isfinite(value) && (!log || value > 0);
}

std::string short_number(double value) {
  if (value == 0) return "0";
  if (!std::isfinite(value)) return std::isnan(value) ? "–" : value > 0 ? "∞" : "−∞";
  const double size = std::abs(value);
  if (size >= 1e-4 && size < 1e7) {
    const int decimals = size >= 1000 ? 0 : std::max(0, 3 - static_cast<int>(std::floor(std::log10(size))));
    std::string text = fmt::format("{:.{}f}", value, decimals);
    if (text.find('.') != std::string::npos) text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    return grouped(text);
  }
  const int exponent = static_cast<int>(std::floor(std::log10(size) + 1e-12));
  const std::string factor = fmt::format("{:.3g}", value / std::pow(10.0, exponent));
  const std::string power = "10" + superscript(exponent);
  return factor == "1" ? power : factor == "-1" ? "−" + power : factor + "·" + power;
}

Axis make_axis(const std::vector<double>& values, const AxisWish& wish) {
  Axis axis{.log = wish.log};
  std::vector<double> held;
  for (const double v : values)
    if (axis.holds(v) && std::abs(v) < 1e300 && (!wish.log || v > 1e-300)) held.push_back(v);
  if (held.empty()) held = {wish.log ? 1.0 : 0.0, wish.log ? 10.0 : 1.0};
  auto [low, high] = std::ranges::minmax(held);
  if (high - low <= 1e-9 * std::max(std::abs(low), std::abs(high)))  // one value: some room around it
    if (wish.log) {
      low /= 2;
      high *= 2;
    } else {
      const double room = low == 0 ? 1 : std::abs(low) / 10;
      low -= low == 0 ? 0 : room;
      high += room;
    }
  else if (!wish.log && wish.to_ticks && low > 0 && low < 0.4 * high)
    low = 0;  // near enough: heights compare as they are
  if (wish.log)
    log_ticks(axis, low, high, wish);
  else
    linear_ticks(axis, low, high, wish);
  if (wish.at_values) {
    // room at both ends, so that dots do not stand on the frame
    const double by = 0.06;
    if (wish.log) {
      const double ratio = std::pow(axis.high / axis.low, by);
      axis.low /= ratio;
      axis.high *= ratio;
    } else {
      const double span = axis.high - axis.low;
      axis.low -= by * span;
      axis.high += by * span;
    }
    ticks_at(axis, held, wish);
  }
  return axis;
}

}  // namespace parley::report
