#include "parley/base/toml_hint.h"

#include <algorithm>
#include <cctype>

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
  if (value.starts_with('"') && std::ranges::count(value, '"') == 1) return "close the quotes: " + key + " = " + std::string(value) + "\"";
  if (value.starts_with('"') && value.find('\\') != std::string_view::npos)
    return "in double quotes a \\ begins a special letter: write " + key + " = '" + std::string(value.substr(1, value.find('"', 1) - 1)) + "'";
  const bool list = value.starts_with('[');
  const std::string_view first = trim(value.substr(list ? 1 : 0, value.find_first_of(list ? ",]#" : ",#") - (list ? 1 : 0)));
  const auto number_like = [](char c) { return (c >= '0' && c <= '9') || c == '.' || c == 'e' || c == '-' || c == '+'; };
  if (!list && value.find(',') != std::string_view::npos && !is_letter(value.front()))
    return "a decimal number has a point (0.5), and several values stand in brackets: " + key + " = [1, 2]";
  if (first.ends_with(';')) return "a line has no ; at its end";
  if (!first.empty() && std::ranges::all_of(first, number_like)) return "write digits before and after the point: 0.5, 1.0e-5";
  if (list && value.find('"') == std::string_view::npos) {  // [1, a]: the word that is no number
    for (const std::string& part : split_list(value.substr(1, value.find(']') - 1)))
      if (!part.empty() && is_letter(part[0])) return "words need quotes: " + key + " = [\"" + part + "\", ...]";
  }
  if (first.empty() || first.find('"') != std::string_view::npos || value.starts_with('=')) return "";
  if (is_letter(first.front()) || first.front() == '/' || first.front() == '.' || first.front() == '~')
    return "words need quotes: " + key + " = \"" + std::string(first.substr(0, 60)) + "\"";
  return "";
}

}  // namespace

std::string toml_hint(std::string_view text, std::size_t line, const std::string& file) {
  if (const std::string kind = other_kind(text, file); !kind.empty()) return kind + "; give a TOML file, with lines such as name = \"value\"";
  const std::string_view at = line_of(text, line);
  const std::size_t equals = at.find('='), colon = at.find(':');
  if (colon != std::string_view::npos && (equals == std::string_view::npos || colon < equals))
    return "TOML writes = between a name and its value: " + std::string(trim(at.substr(0, colon))) + " = …";
  if (equals == std::string_view::npos) return at.empty() || at.starts_with('[') ? "" : "a line has the form name = value";
  return of_value(std::string(trim(at.substr(0, equals))), trim(at.substr(equals + 1)));
}

}  // namespace parley
