#include "parley/base/shallow_json.h"

#include <nlohmann/json.hpp>

namespace parley {

using nlohmann::json;

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
