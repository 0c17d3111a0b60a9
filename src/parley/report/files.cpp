#include "parley/report/files.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "parley/report/run.h"

namespace parley::report {

using nlohmann::json;
namespace fs = std::filesystem;

json read_json(const fs::path& file) {
  constexpr std::uintmax_t largest = 256U << 20U;  // 10,000 nodes of a dense graph stay far below
  std::error_code code;
  if (!fs::is_regular_file(file, code) || fs::file_size(file, code) > largest || code) return {};
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return in ? shallow_json(text.str()) : json();
}

json member(const json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto found = object.find(key);
  return found == object.end() ? json() : *found;
}

double number_in(const json& object, const char* key) {
  const json value = member(object, key);
  return value.is_number() ? value.get<double>() : absent;
}

std::string text_in(const json& object, const char* key) {
  const json value = member(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

ReleasedFile::ReleasedFile(const fs::path& folder, const json& shape) {
  const double first = number_in(shape, "first"), nodes = number_in(shape, "nodes"), size = number_in(shape, "size");
  constexpr double most = 1e8;  // numbers in a round
  if (!(nodes >= 1 && size >= 1 && nodes * size <= most)) return;
  if (first >= 0 && first <= most) first_ = static_cast<int>(first);
  nodes_ = static_cast<int>(nodes);
  size_ = static_cast<Index>(size);
  std::error_code code;
  if (fs::is_regular_file(folder / "released.f64", code)) file_.open(folder / "released.f64", std::ios::binary);
}

bool ReleasedFile::next(std::vector<Vector>& values) {
  if (!file_.is_open() || nodes_ == 0) return false;
  values.assign(static_cast<std::size_t>(nodes_), Vector());
  Vector f(size_);
  for (Vector& value : values) {
    file_.read(reinterpret_cast<char*>(f.data()), static_cast<std::streamsize>(sizeof(double)) * size_);
    if (!file_) return false;
    if (f.allFinite()) value = f;  // NaN: silent
  }
  return true;
}

}  // namespace parley::report
