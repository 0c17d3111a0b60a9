#include "parley/base/text.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <ctime>
#include <numeric>

#include "parley/base/durable.h"
#include "parley/base/error.h"

namespace parley {

std::string short_number(double value) {
  return fmt::format("{:.6g}", value);
}

std::string number(double value) {
  char buffer[32];
  const auto [end, code] = std::to_chars(buffer, buffer + sizeof buffer, value);
  expects(code == std::errc{}, "a double fits in 32 characters");
  return {buffer, end};
}

namespace {

// What to do with a text that is no number: 3,5 is one elsewhere.
std::string with_point(std::string_view text) {
  const auto comma = text.find(',');
  std::string pointed(text);
  if (comma != std::string_view::npos) pointed[comma] = '.';
  double value = 0;
  const auto [end, code] = std::from_chars(pointed.data(), pointed.data() + pointed.size(), value);
  const bool number = comma != std::string_view::npos && code == std::errc{} && end == pointed.data() + pointed.size();
  return number ? "a decimal number has a point: write " + pointed : "write a number there";
}

}  // namespace

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
                 .fix = with_point(digits)});
  return value;
}

std::string nearest(std::string_view name, const std::vector<std::string>& candidates) {
  const auto plain = [](std::string_view text) {  // small letters alone: MR_ADMM, mradmm and mr-admm are one word
    std::string s;
    for (const char c : text)
      if (c != '-' && c != '_' && c != ' ') s += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return s;
  };
  for (const auto& candidate : candidates)
    if (!name.empty() && plain(name) == plain(candidate)) return candidate;
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
  if (name.size() <= 1) return "";  // any letter is one change away from any other
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

namespace {

std::filesystem::path resolved(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_symlink(path, ignored)) return path;
  return std::filesystem::canonical(path.parent_path() / std::filesystem::read_symlink(path));
}

std::filesystem::path written_as(const std::filesystem::path& path) {
  std::error_code ignored;
  const bool device = std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored);
  return device ? path : std::filesystem::path(path.string() + ".part");
}

}  // namespace

FileReplacement::FileReplacement(const std::filesystem::path& path)
    : path_(resolved(path)), beside_(written_as(path_)), out_(beside_, std::ios::binary | std::ios::trunc) {
  if (!out_) fail(why_not_written(errno));
}

FileReplacement::~FileReplacement() {
  std::error_code ignored;
  if (!out_.is_open()) return;
  out_.close();
  if (beside_ != path_) std::filesystem::remove(beside_, ignored);
}

void FileReplacement::add(std::string_view content) {
  out_.write(content.data(), static_cast<std::streamsize>(content.size()));
  if (!out_) fail(why_not_written(errno));
}

void FileReplacement::done() {
  out_.close();
  const int reason = errno;
  std::error_code code;
  if (out_ && beside_ != path_) std::filesystem::rename(beside_, path_, code);
  if (out_ && !code) return;
  std::error_code ignored;
  if (beside_ != path_) std::filesystem::remove(beside_, ignored);
  fail(code ? code.message() : why_not_written(reason));
}

void FileReplacement::fail(const std::string& reason) const {
  throw Error({.what = "cannot write: " + reason,
               .where = path_.string(),
               .fix = "check free space and permissions, or choose another place"});
}

void write_file(const std::filesystem::path& path, std::string_view content) {
  FileReplacement file(path);
  file.add(content);
  file.done();
}

std::string iso_time(std::chrono::sys_seconds time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

std::string timestamp() {
  return fmt::format("{:%Y%m%d-%H%M%S}", fmt::gmtime(std::time(nullptr)));
}

}  // namespace parley
