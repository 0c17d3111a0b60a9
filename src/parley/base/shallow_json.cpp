#include "parley/base/shallow_json.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace parley {

using nlohmann::json;

std::optional<std::string> read_bytes(const std::filesystem::path& file, std::uintmax_t most) {
  std::error_code code;
  if (!std::filesystem::is_regular_file(file, code) || std::filesystem::file_size(file, code) > most || code)
    return std::nullopt;
  const std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return in ? std::optional(text.str()) : std::nullopt;
}

json shallow_json(const std::string& text) {
  constexpr int deepest = 16;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quoted && text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      quoted = !quoted;
    else if (!quoted && (text[i] == '[' || text[i] == '{') && ++depth > deepest)
      return {};
    else if (!quoted && (text[i] == ']' || text[i] == '}'))
      --depth;
  }
  const json value = json::parse(text, nullptr, false);
  return value.is_discarded() ? json() : value;
}

}  // namespace parley
