#include "cli/terminal.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

namespace parley::cli {
namespace {

std::size_t width(const std::string& text) {
  std::size_t n = 0;
  for (const char c : text) n += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
  return n;
}

std::string styled(const std::string& text, const char* code) {
  return isatty(STDOUT_FILENO) != 0 ? "\x1b[" + std::string(code) + "m" + text + "\x1b[0m" : text;
}

}  // namespace

Progress::Progress(bool quiet, long steps) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) != 0), steps_(steps) {}

void Progress::show(long step, const std::string& text) {
  if (quiet_) return;
  if (terminal_) {
    fmt::print(stderr, "\r\x1b[K{}", text);
    std::fflush(stderr);
    open_ = true;
  } else if (step * 10 / std::max(steps_, 1L) != shown_ || step == steps_) {
    shown_ = step * 10 / std::max(steps_, 1L);
    fmt::print(stderr, "{}\n", text);
  }
}

void Progress::finish() {
  if (open_) fmt::print(stderr, "\n");
  open_ = false;
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
  return styled(text, "1");
}
std::string alarm(const std::string& text) {
  return styled(text, "1;31");
}
std::string percent(double share) {
  return fmt::format("{:.2f} %", 100 * share);
}
std::string fixed(double value, int digits) {
  return fmt::format("{:.{}f}", value, digits);
}

// Outward: what is shown is never below the claim (up to 1e-12 of it, the rounding of the last double).
std::string epsilon_text(double epsilon) {
  return fmt::format("{:.4f}", std::ceil(epsilon * (1 - 1e-12) * 1e4) / 1e4);
}

std::string grouped(long count) {
  std::string text = std::to_string(count);
  for (long at = static_cast<long>(text.size()) - 3; at > 0; at -= 3) text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

}  // namespace parley::cli
