// Small text and file helpers that several folders need.
#pragma once
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/input_file.h"  // read_file

namespace parley {

// The shortest decimal that reads back as the same double.
std::string number(double value);
std::string short_number(double value);  // six digits, for people

// A double from the whole of text, or throws Error naming `what` and `where`. Refuses NaN and infinities.
double parse_number(std::string_view text, const std::string& what, const std::string& where);

// The candidate closest to name by edit distance, or "" when none is near enough to be a typo.
std::string nearest(std::string_view name, const std::vector<std::string>& candidates);

std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::vector<std::string> split_list(std::string_view text, char separator = ',');  // trimmed parts
// One line that a terminal shows as it is: no control characters, also not those of two bytes (U+0080 to U+009F).
bool is_plain_line(std::string_view text, std::size_t longest);
std::string_view trim(std::string_view text);

// Writes beside the target and renames: the file is the old one or the new one, never half of either.
class FileReplacement {
 public:
  explicit FileReplacement(const std::filesystem::path& path);
  ~FileReplacement();  // without done() nothing is left of it
  FileReplacement(const FileReplacement&) = delete;
  FileReplacement& operator=(const FileReplacement&) = delete;
  void add(std::string_view content);
  void done();

 private:
  [[noreturn]] void fail(const std::string& reason) const;
  std::filesystem::path path_, beside_;  // the same for a device or pipe: never renamed over
  std::ofstream out_;
};
void write_file(const std::filesystem::path& path, std::string_view content);

std::string iso_time(std::chrono::sys_seconds time);  // in UTC: 2026-11-16T02:15:00Z
// Now, in UTC, for names: 20261116-021500.
std::string timestamp();

}  // namespace parley
