#include "parley/base/toml.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "parley/base/error.h"
#include "parley/base/text.h"

namespace parley {
namespace {

// kind = numeric, categories = [a, b]: words that lack their quotes, the mistake that is made most.
std::string missing_quotes(std::string_view text, std::size_t line) {
  for (std::size_t n = 1; n < line; ++n) text.remove_prefix(std::min(text.size(), text.find('\n') + 1));
  text = text.substr(0, text.find_first_of("\r\n"));
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return "";
  const std::string key(trim(text.substr(0, equals)));
  std::string_view value = trim(text.substr(equals + 1));
  const bool list = value.starts_with('[');
  value = trim(value.substr(list ? 1 : 0, value.find_first_of(list ? ",]#" : "#") - (list ? 1 : 0)));
  if (value.empty() || std::isalpha(static_cast<unsigned char>(value.front())) == 0 || value == "true" ||
      value == "false" || value == "inf" || value == "nan" || value.find('"') != std::string_view::npos)
    return "";
  const std::string quoted = "\"" + std::string(value.substr(0, 60)) + "\"";
  return "words need quotes: " + key + " = " + (list ? "[" + quoted + ", ...]" : quoted);
}

void try_parse(std::string_view text, const std::string& file, const std::string& fix, toml::table& root) {
  try {
    root = toml::parse(text);
  } catch (const toml::parse_error& e) {
    const std::string hint = missing_quotes(text, e.source().begin.line);
    throw Error({.what = "not valid TOML: " + std::string(e.description()),
                 .where = file + ":" + std::to_string(e.source().begin.line),
                 .fix = hint.empty() ? fix : hint});
  }
}

// Bytes outside ASCII as ~c3~bc: fine in strings and comments, an error everywhere else, as they should be.
std::string ascii(std::string_view text) {
  std::string s;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80)
      s += c;
    else
      s += fmt::format("~{:02x}", byte);
  }
  return s;
}

}  // namespace

// Trap: toml++ 3.3 runs into __builtin_unreachable (is_non_ascii_horizontal_whitespace) when U+00A1 ... U+0499 and some
// others stand where a blank could, which is never right. So it sees such text only after its ASCII image has parsed.
toml::table parse_toml(std::string_view text, const std::string& file) {
  toml::table root;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (const std::string image = ascii(text); image != text)
    try_parse(image, file, "letters outside ASCII must stand in quotes; the message shows them as ~ and their bytes",
              root);
  try_parse(text, file, "", root);
  return root;
}

nlohmann::json toml_value(const toml::node& node, const std::string& where) {
  if (const auto* value = node.as_string()) return value->get();
  if (const auto* value = node.as_integer()) return value->get();
  if (const auto* value = node.as_floating_point()) return value->get();
  if (const auto* value = node.as_boolean()) return value->get();
  const auto* array = node.as_array();
  if (array == nullptr)
    throw Error({.what = "no option is a date or a table", .where = where, .fix = "write text, a number or a list"});
  nlohmann::json list = nlohmann::json::array();
  for (const auto& element : *array) {
    if (element.is_array()) throw Error({.what = "no option is a list of lists", .where = where});
    list.push_back(toml_value(element, where));
  }
  return list;
}

}  // namespace parley
