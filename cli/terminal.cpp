#include "cli/terminal.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "parley/base/durable.h"

namespace parley::cli {
namespace {

std::size_t width(const std::string& text) {
  std::size_t n = 0;
  for (const char c : text) n += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
  return n;
}

bool log_errors = false;

bool can_rewrite() {
  const char* kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && (kind == nullptr || std::string(kind) != "dumb");
}

std::size_t columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string styled(const std::string& text, const char* code, std::FILE* to) {
  return isatty(fileno(to)) != 0 ? "\x1b[" + std::string(code) + "m" + text + "\x1b[0m" : text;
}

}  // namespace

bool to_stdout(std::string_view text) {
  return write_all(STDOUT_FILENO, text);
}

bool to_stderr(std::string_view text) {
  return write_all(STDERR_FILENO, text);
}

std::string log_line_now(const LogLine& line) {
  return logged(line, std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()));
}

void write_log(const LogLine& line) {
  to_stderr(log_line_now(line) + "\n");
}

void errors_are_logged() {
  log_errors = true;
}

void say_error(const std::string& text) {
  if (!log_errors) {
    to_stderr("parley: " + text + "\n");
    return;
  }
  std::string line = text;
  for (auto at = line.find('\n'); at != std::string::npos; at = line.find('\n', at)) {
    const auto next = line.find_first_not_of("\n ", at);
    line.replace(at, (next == std::string::npos ? line.size() : next) - at, "; ");
  }
  write_log({line, Level::error});
}

Progress::Progress(bool quiet, long steps) : quiet_(quiet), terminal_(can_rewrite()), steps_(steps) {}

void Progress::show(long step, const std::vector<std::string>& lines, const std::string& plain) {
  if (quiet_) return;
  if (terminal_) {
    // A line that wrapped would be two, and going up would miss one: clip to the width of now.
    std::string text = open_ > 1 ? fmt::format("\r\x1b[{}A", open_ - 1) : "\r";
    for (std::size_t i = 0; i < lines.size(); ++i)
      text += (i > 0 ? "\n\x1b[K" : "\x1b[K") + clipped(lines[i], columns() - 1);
    to_stderr(text);
    open_ = lines.size();
  } else if (step * 10 / std::max(steps_, 1L) != shown_ || (step == steps_ && last_ != step)) {
    shown_ = step * 10 / std::max(steps_, 1L);
    last_ = step;
    to_stderr(plain + "\n");
  }
}

void Progress::clear() {
  for (std::size_t i = 0; i < open_; ++i) to_stderr(i + 1 < open_ ? "\r\x1b[K\x1b[A" : "\r\x1b[K");
  open_ = 0;
}

void Progress::finish() {
  if (open_ > 0) to_stderr("\n");
  open_ = 0;
}

std::string bar(double share, int width) {
  const long full = std::lround(std::clamp(share, 0.0, 1.0) * width);
  std::string text;
  for (int i = 0; i < width; ++i) text += i < full ? "█" : "░";
  return text;
}

std::string sparkline(const std::vector<double>& values, std::size_t width) {
  static constexpr std::array blocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::size_t count = std::min(values.size(), width);
  std::vector<double> heights;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t begin = i * values.size() / count, end = (i + 1) * values.size() / count;
    double sum = 0;
    for (std::size_t k = begin; k < end; ++k) sum += values[k];
    heights.push_back(sum / static_cast<double>(end - begin));
  }
  if (heights.empty()) return "";
  const auto [low, high] = std::ranges::minmax(heights);
  std::string text;
  for (const double h : heights) {
    const double share = high > low ? (h - low) / (high - low) : 0;
    text += std::isfinite(share) ? blocks[static_cast<std::size_t>(std::lround(7 * share))] : "?";
  }
  return text;
}

std::string clipped(const std::string& text, std::size_t most) {
  if (width(text) <= most) return text;
  std::string kept;
  std::size_t n = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U && ++n >= most) break;
    kept += c;
  }
  return most == 0 ? "" : kept + "…";
}

std::string duration(double seconds) {
  const long s = std::lround(seconds);
  if (s >= 3600) return fmt::format("{} h {} min", s / 3600, s % 3600 / 60);
  return s >= 60 ? fmt::format("{} min {} s", s / 60, s % 60) : fmt::format("{} s", s);
}

std::string time_left(double seconds, double share_done) {
  if (share_done <= 0 || share_done >= 1 || seconds < 0.5) return "";
  return duration(seconds * (1 - share_done) / share_done) + " left";
}

std::string table(const std::vector<std::vector<std::string>>& rows, const std::string& indent) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (c == widths.size()) widths.push_back(0);
      widths[c] = std::max(widths[c], width(row[c]));
    }
  std::string text;
  for (const auto& row : rows) {
    std::string line = indent;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string pad(widths[c] - width(row[c]), ' ');
      line += (c == 0 ? row[c] + pad : "   " + pad + row[c]);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string bold(const std::string& text) {
  return styled(text, "1", stdout);
}
std::string alarm(const std::string& text, std::FILE* to) {
  return styled(text, "1;31", to);
}
void say_first(const std::string& text) {
  if (!text.empty()) to_stderr(alarm(text, stderr) + "\n");
}
std::string percent(double share) {
  return fmt::format("{:.2f} %", 100 * share);
}
std::string fixed(double value, int digits) {
  return fmt::format("{:.{}f}", value, digits);
}

}  // namespace parley::cli
