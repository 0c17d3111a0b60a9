#include "parley/record/files.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "parley/base/error.h"
#include "parley/base/limits.h"

namespace parley::record {

using nlohmann::json;
namespace fs = std::filesystem;

json read_json(const fs::path& file) {
  const auto text = read_bytes(file, largest_record);
  return text ? shallow_json(*text) : json();
}

json read_run(const fs::path& folder) {
  std::error_code code;
  if (!fs::exists(folder / "run.json", code)) {
    std::string inside;
    for (auto at = fs::directory_iterator(folder, code); !code && at != fs::directory_iterator(); at.increment(code))
      if (std::error_code none; fs::exists(at->path() / "run.json", none)) inside = at->path().string();
    throw Error({.what = "the record cannot be read: there is no run.json",
                 .where = folder.string(),
                 .fix = inside.empty() ? "give the folder that holds run.json: the --out of train or join"
                                       : "give the folder that holds run.json, such as " + inside});
  }
  return shallow_json(read_file(folder / "run.json", "the record", largest_record));
}

json member(const json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto found = object.find(key);
  return found == object.end() ? json() : *found;
}

double number_in(const json& object, const char* key) {
  const json value = member(object, key);
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

std::string text_in(const json& object, const char* key) {
  const json value = member(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

std::optional<Shape> shape_of(const json& run) {
  const json released = member(run, "released");
  const auto count = [&](const char* key, std::uint64_t most) -> std::optional<std::uint64_t> {
    const json value = member(released, key);
    const bool counts = value.is_number_unsigned() || (value.is_number_integer() && value.get<std::int64_t>() >= 0);
    if (!counts || value.get<std::uint64_t>() > most) return std::nullopt;
    return value.get<std::uint64_t>();
  };
  constexpr std::uint64_t most = most_numbers_of_a_round;
  const auto nodes = count("nodes", most), size = count("size", most);
  const auto first = released.is_object() && released.contains("first") ? count("first", most) : 0;
  const auto round_1 =
      released.is_object() && released.contains("size_of_round_1") ? count("size_of_round_1", most) : 0;
  const auto optional_count = [&](const char* key) {
    return released.is_object() && released.contains(key) ? count(key, most) : 0;
  };
  const auto final_round = optional_count("final_round"), final_size = optional_count("size_of_final_round");
  if (!nodes || !size || !first || !round_1 || !final_round || !final_size || (*final_round > 0) != (*final_size > 0) ||
      *nodes == 0 || *size == 0 || *nodes > most / std::max({*size, *round_1, *final_size}))
    return std::nullopt;
  return Shape{.first = static_cast<int>(*first),
               .nodes = static_cast<int>(*nodes),
               .size = static_cast<Index>(*size),
               .size_of_round_1 = static_cast<Index>(*round_1),
               .final_round = static_cast<std::size_t>(*final_round),
               .size_of_final_round = static_cast<Index>(*final_size),
               .sums = member(released, "sums") == true};
}

std::size_t Shape::bytes(std::size_t rounds) const {
  std::size_t numbers = rounds * static_cast<std::size_t>(size);
  if (rounds > 1) numbers += static_cast<std::size_t>(size_of(1) - size);
  if (final_round > 1 && rounds > final_round) numbers += static_cast<std::size_t>(size_of(final_round) - size);
  return numbers * static_cast<std::size_t>(nodes) * sizeof(double);
}

ReleasedFile::ReleasedFile(const fs::path& folder, const std::optional<Shape>& shape) {
  if (!shape) return;
  shape_ = *shape;
  file_ = opened(folder / "released.f64");
  left_ = file_ ? file_->size() : 0;  // whoever claims large values must have written them
}

bool ReleasedFile::next(std::vector<Vector>& values) {
  const std::size_t bytes = sizeof(double) * static_cast<std::size_t>(shape_.size_of(round_));
  if (!file_ || left_ < bytes * static_cast<std::size_t>(shape_.nodes)) return false;
  left_ -= bytes * static_cast<std::size_t>(shape_.nodes);
  values.assign(static_cast<std::size_t>(shape_.nodes), Vector());
  Vector f(shape_.size_of(round_++));
  for (Vector& value : values) {
    if (file_->read(reinterpret_cast<char*>(f.data()), bytes) < bytes) return false;
    if (!f.array().isNaN().all()) value = f;  // NaN: silent
  }
  return true;
}

RoundLines::RoundLines(const fs::path& folder) {
  constexpr std::size_t longest = mebibyte;
  if (auto file = opened(folder / "rounds.jsonl")) lines_.emplace(std::move(*file), longest, InputLines::Ends::lf);
}

bool RoundLines::next(std::string& text, json& line) {
  constexpr int most = 2'000'000;
  if (broken_ || !lines_) return false;
  std::string_view found;
  const auto there = lines_->next(found);
  if (there && (!*there || !found.ends_with('\n'))) return false;  // without its end: half written
  ++number_;
  broken_ = !there || number_ > most;
  if (broken_) return false;
  text = found.substr(0, found.size() - 1);
  line = shallow_json(text);
  broken_ = !line.is_object();
  return !broken_;
}

}  // namespace parley::record
