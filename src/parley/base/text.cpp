#include "parley/base/text.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <ctime>
#include <fstream>
#include <numeric>
#include <sstream>

#include "parley/base/error.h"

namespace parley {

std::string number(double value) {
  char buffer[32];
  const auto [end, code] = std::to_chars(buffer, buffer + sizeof buffer, value);
  expects(code == std::errc{}, "a double fits in 32 characters");
  return {buffer, end};
}

double parse_number(std::string_view text, const std::string& what, const std::string& where) {
  std::string_view digits = trim(text);
  if (digits.starts_with('+')) digits.remove_prefix(1);
  double value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code != std::errc{} || end != digits.data() + digits.size() || !std::isfinite(value))
    throw Error({.what = what + " is not a number",
                 .value = "'" + std::string(text) + "'",
                 .allowed = "a finite decimal number",
                 .where = where,
                 .fix = "write a number there"});
  return value;
}

std::string nearest(std::string_view name, const std::vector<std::string>& candidates) {
  std::string best, begun;
  for (const auto& candidate : candidates)
    if (name.size() >= 3 && candidate.starts_with(name)) {
      if (!begun.empty()) {  // the beginning of several
        begun.clear();
        break;
      }
      begun = candidate;
    }
  if (!begun.empty()) return begun;
  std::size_t best_distance = (name.size() <= 3 ? 1 : std::max<std::size_t>(2, name.size() / 3)) + 1;
  for (const auto& candidate : candidates) {
    std::vector<std::size_t> row(candidate.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= name.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i;
      for (std::size_t j = 1; j <= candidate.size(); ++j) {
        const std::size_t replaced = diagonal + (name[i - 1] == candidate[j - 1] ? 0 : 1);
        diagonal = row[j];
        row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = candidate;
    }
  }
  return best;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string s;
  for (std::size_t i = 0; i < parts.size(); ++i) s += (i == 0 ? "" : std::string(separator)) + parts[i];
  return s;
}

bool is_plain_line(std::string_view text, std::size_t longest) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x20 || c == 0x7F) return false;
    if (c == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0) return false;
  }
  return text.size() <= longest;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n";
  const auto first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

std::vector<std::string> split_list(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const auto at = text.find(separator);
    parts.emplace_back(trim(text.substr(0, at)));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string read_file(const std::filesystem::path& path, const std::string& what) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw Error({.what = what + " is a directory", .where = path.string(), .fix = "name a file inside it"});
  const std::ifstream in(path, std::ios::binary);
  if (!in)
    throw Error({.what = what + " cannot be read: " + std::strerror(errno),
                 .where = path.string(),
                 .fix = "check the path and its permissions"});
  std::ostringstream text;
  text << in.rdbuf();
  if (in.bad())
    throw Error({.what = what + " cannot be read to its end", .where = path.string(), .fix = "check the disk"});
  return std::move(text).str();
}

void write_file(const std::filesystem::path& path, std::string_view content) {
  std::error_code ignored;
  if (std::filesystem::is_symlink(path, ignored))
    return write_file(std::filesystem::canonical(path.parent_path() / std::filesystem::read_symlink(path)), content);
  const bool device = std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored);
  const std::filesystem::path beside =
      device ? path : std::filesystem::path(path.string() + ".part");  // never rename over a device or pipe
  std::ofstream out(beside, std::ios::binary | std::ios::trunc);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  std::error_code code;
  if (out && !device) std::filesystem::rename(beside, path, code);
  if (!out || code) {
    const std::string reason = code ? code.message() : std::strerror(errno);
    if (!device) std::filesystem::remove(beside, code);
    throw Error({.what = "cannot write: " + reason,
                 .where = path.string(),
                 .fix = "check free space and permissions, or choose another place"});
  }
}

std::string timestamp() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y%m%d-%H%M%S", &parts);
  return text;
}

}  // namespace parley
