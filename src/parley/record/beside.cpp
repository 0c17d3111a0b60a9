#include "parley/record/beside.h"

#include <algorithm>
#include <string_view>

#include "parley/record/record.h"

namespace parley::record {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view key_ending = ".noise-key", part_begins = ".part-";

// "a/out" for "a/out/"; the whole path where the name says nothing of its own ("." would put what is secret inside).
fs::path named(const fs::path& folder) {
  fs::path name = (folder / "").parent_path();
  if (name.filename() == "." || name.filename() == ".." || name.filename().empty())
    name = (fs::absolute(name).lexically_normal() / "").parent_path();
  return name;
}

// OUT of OUT.part-2; the whole name of any other.
std::string without_part(const std::string& name) {
  const auto at = name.rfind(part_begins);
  if (at == std::string::npos) return name;
  const std::string_view digits = std::string_view(name).substr(at + part_begins.size());
  const bool numbered = !digits.empty() && std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
  return numbered ? name.substr(0, at) : name;
}

// Of OUT.noise-key or OUT.part-2.noise-key: OUT.
fs::path folder_of_key(const fs::path& file) {
  std::string name = file.string();
  name.resize(name.size() - key_ending.size());
  std::error_code unknown;
  if (fs::is_directory(name, unknown)) return name;  // a folder of just that name
  return without_part(name);
}

}  // namespace

fs::path beside(const fs::path& folder, const std::string& ending) {
  return named(folder).string() + ending;
}

bool named_like_a_part(const fs::path& folder) {
  const std::string name = named(folder).filename().string();
  return without_part(name) != name;
}

fs::path noise_key_file(const fs::path& folder, int part) {
  return beside(folder, (part == 1 ? "" : "." + folder_of_part(part)) + std::string(key_ending));
}

fs::path place_of(const fs::path& folder) {
  const fs::path parent = named(folder).parent_path();
  return parent.empty() ? fs::path(".") : parent;
}

std::vector<NoiseKeyPlace> noise_keys_in(const fs::path& place) {
  std::vector<NoiseKeyPlace> found;
  std::error_code unknown;
  for (fs::directory_iterator entry(place, unknown); !unknown && entry != fs::directory_iterator();
       entry.increment(unknown))
    if (std::error_code code; entry->path().filename().string().ends_with(key_ending) &&
                              fs::is_regular_file(entry->symlink_status(code)) && !code)
      found.push_back({.file = entry->path(), .folder = folder_of_key(entry->path())});
  std::ranges::sort(found, {}, &NoiseKeyPlace::file);
  return found;
}

std::vector<fs::path> noise_key_files(const fs::path& folder) {
  const std::string name = named(folder).filename().string();
  std::vector<fs::path> found;
  for (const NoiseKeyPlace& one : noise_keys_in(place_of(folder)))
    if (one.folder.filename() == name) found.push_back(named(folder).parent_path() / one.file.filename());
  return found;
}

}  // namespace parley::record
