#include "parley/base/toml.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "parley/base/error.h"
#include "parley/base/text.h"

namespace parley {
namespace {

std::string_view line_of(std::string_view text, std::size_t line) {
  for (std::size_t n = 1; n < line; ++n) text.remove_prefix(std::min(text.size(), text.find('\n') + 1));
  return trim(text.substr(0, text.find_first_of("\r\n")));
}

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}

// Another kind of file, by its name or its beginning; "" when it may be TOML.
std::string other_kind(std::string_view text, const std::string& file) {
  const std::string_view begin = trim(text.substr(0, 200));
  if (file.ends_with(".csv") || file.ends_with(".tsv")) return "this is a table of rows (CSV)";
  if (begin.starts_with('{')) return "this is a JSON file";
  if (begin.starts_with("-----BEGIN")) return "this is a key or a certificate";
  if (begin.starts_with("SQLite format 3")) return "this is a ledger";
  return "";
}

std::string of_value(const std::string& key, std::string_view value) {
  if (value.empty()) return "write a value behind the =, or remove the line";
  if (value == "True" || value == "False") return "write true or false, in small letters";
  if (value.starts_with('"') && std::ranges::count(value, '"') == 1)
    return "close the quotes: " + key + " = " + std::string(value) + "\"";
  if (value.starts_with('"') && value.find('\\') != std::string_view::npos)
    return "in double quotes a \\ begins a special letter: write " + key + " = '" +
           std::string(value.substr(1, value.find('"', 1) - 1)) + "'";
  const bool list = value.starts_with('[');
  const std::string_view first =
      trim(value.substr(list ? 1 : 0, value.find_first_of(list ? ",]#" : ",#") - (list ? 1 : 0)));
  const auto number_like = [](char c) {
    return (c >= '0' && c <= '9') || c == '.' || c == 'e' || c == '-' || c == '+';
  };
  if (!list && value.find(',') != std::string_view::npos && !is_letter(value.front()))
    return "a decimal number has a point (0.5), and several values stand in brackets: " + key + " = [1, 2]";
  if (list && value.find('"') == std::string_view::npos) {  // [1, a]: the word that is no number
    for (const std::string& part : split_list(value.substr(1, value.find(']') - 1)))
      if (!part.empty() && is_letter(part[0])) return "words need quotes: " + key + " = [\"" + part + "\", ...]";
  }
  if (first.ends_with(';')) return "a line has no ; at its end";
  if (!first.empty() && std::ranges::all_of(first, number_like))
    return "write digits before and after the point: 0.5, 1.0e-5";
  if (first.empty() || first.find('"') != std::string_view::npos || value.starts_with('=')) return "";
  if (is_letter(first.front()) || first.front() == '/' || first.front() == '.' || first.front() == '~')
    return "words need quotes: " + key + " = \"" + std::string(first.substr(0, 60)) + "\"";
  return "";
}

// What to do about the mistake that the parser found in this line (counted from 1); "" where nothing is known.
std::string toml_hint(std::string_view text, std::size_t line, const std::string& file) {
  if (const std::string kind = other_kind(text, file); !kind.empty())
    return kind + "; give a TOML file, with lines such as name = \"value\"";
  const std::string_view at = line_of(text, line);
  const std::size_t equals = at.find('='), colon = at.find(':');
  if (colon != std::string_view::npos && (equals == std::string_view::npos || colon < equals))
    return "TOML writes = between a name and its value: " + std::string(trim(at.substr(0, colon))) + " = …";
  if (equals == std::string_view::npos)
    return at.empty() || at.starts_with('[') ? "" : "a line has the form name = value";
  return of_value(std::string(trim(at.substr(0, equals))), trim(at.substr(equals + 1)));
}

void try_parse(std::string_view text, const std::string& file, const std::string& fix, toml::table& root) {
  try {
    root = toml::parse(text);
  } catch (const toml::parse_error& e) {
    const std::string hint = toml_hint(text, e.source().begin.line, file);
    // In the ASCII image a ~ is most likely the letter that the parser stumbled over.
    const bool letter = !fix.empty() && line_of(text, e.source().begin.line).find('~') != std::string_view::npos;
    throw Error({.what = "not valid TOML: " + std::string(e.description()),
                 .where = file + ":" + std::to_string(e.source().begin.line),
                 .fix = letter || hint.empty() ? fix : hint});
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
