#include "parley/data/toml_section.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "parley/base/text.h"

namespace parley::data {
namespace {

std::string type_name(const toml::node& node) {
  std::ostringstream s;
  s << node.type();
  return s.str();
}

bool holds(const std::vector<std::string>& list, const std::string& item) {
  return std::ranges::find(list, item) != list.end();
}

std::string did_you_mean(const std::string& given, const std::vector<std::string>& allowed,
                         const std::string& otherwise) {
  const std::string near = nearest(given, allowed);
  return near.empty() ? otherwise : "did you mean " + in_quotes(near) + "?";
}

// How many bytes the string, quote or comment at the start of text takes; 1 for anything else. Quotes open a string
// only where TOML allows one; a string that is not closed ends with its line, or with the text.
std::size_t token_size(std::string_view text, bool may_open_string) {
  if (text[0] == '#') return std::min(text.find('\n'), text.size());
  if ((text[0] != '"' && text[0] != '\'') || !may_open_string) return 1;
  const char quote = text[0];
  const std::string triple(3, quote);
  const bool long_string = text.starts_with(triple);
  for (std::size_t i = long_string ? 3 : 1; i < text.size(); ++i) {
    if (text[i] == '\\' && quote == '"') {
      ++i;
    } else if (long_string && text.substr(i).starts_with(triple)) {
      i += 3;  // up to two more quotes belong to the string
      for (int more = 0; more < 2 && i < text.size() && text[i] == quote; ++more) ++i;
      return i;
    } else if (!long_string && (text[i] == quote || text[i] == '\n')) {
      return i + 1;
    }
  }
  return text.size();
}

// Trap: toml++ 3.3 runs into __builtin_unreachable (is_non_ascii_horizontal_whitespace) on U+00A1 ... U+0499 and others
// outside strings and comments. TOML has no use for such a character there, so it is refused before toml++ sees it.
// (Stricter than TOML in one case: a quoted part of a dotted key, a."b".)
void check_ascii_outside_strings(std::string_view text, const std::string& file) {
  std::size_t line = 1;
  char before = '\n';  // the last character that is not blank
  while (!text.empty()) {
    if (static_cast<unsigned char>(text[0]) >= 0x80)
      throw Error({.what = "not valid TOML: a character outside ASCII stands outside quotes",
                   .where = file + ":" + std::to_string(line),
                   .fix = "put quotes around the name or text"});
    const std::string_view token =
        text.substr(0, token_size(text, std::string_view("\n=[,{").find(before) != std::string_view::npos));
    line += static_cast<std::size_t>(std::ranges::count(token, '\n'));
    if (token[0] != ' ' && token[0] != '\t' && token[0] != '\r' && token[0] != '#') before = token.back();
    text.remove_prefix(token.size());
  }
}

}  // namespace

toml::table parse_toml(std::string_view text, const std::string& file) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  check_ascii_outside_strings(text, file);
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& e) {
    throw Error({.what = "not valid TOML: " + std::string(e.description()),
                 .where = file + ":" + std::to_string(e.source().begin.line)});
  }
}

Section::Section(const toml::table& table, std::string file, std::string name)
    : table_(&table), file_(std::move(file)), name_(std::move(name)) {}

std::string Section::line_of(const toml::node& node) const {
  const auto line = node.source().begin.line;
  return line == 0 ? file_ : file_ + ":" + std::to_string(line);
}

void Section::fail(const std::string& key, Error::Parts p) const {
  p.what = name_ + p.what;
  p.where = has(key) ? line_of(*find(key)) : line_of(*table_);
  throw Error(p);
}

void Section::only(const std::vector<std::string>& known, const std::vector<std::string>& elsewhere,
                   const std::string& why_not) const {
  for (const auto& [key, node] : *table_) {
    const std::string name(key.str());
    if (holds(known, name)) continue;
    if (holds(elsewhere, name))
      fail(name, {.what = in_quotes(name) + " has no meaning " + why_not, .fix = "remove the line"});
    fail(name, {.what = "unknown key " + in_quotes(name),
                .allowed = join(known, ", "),
                .fix = did_you_mean(name, known, "remove the line")});
  }
}

void Section::fail_choice(const std::string& key, const std::string& given,
                          const std::vector<std::string>& allowed) const {
  fail(key, {.what = in_quotes(key) + " is not one of its values",
             .value = in_quotes(given),
             .allowed = join(allowed, ", "),
             .fix = did_you_mean(given, allowed, "")});
}

std::string Section::text(const std::string& key) const {
  const auto* node = find(key);
  if (node == nullptr)
    fail(key, {.what = "the key " + in_quotes(key) + " is missing", .fix = "add " + key + " = \"...\""});
  if (!node->is_string()) fail(key, {.what = in_quotes(key) + " must be text in quotes", .value = type_name(*node)});
  return **node->as_string();
}

bool Section::truth(const std::string& key, bool fallback) const {
  const auto* node = find(key);
  if (node == nullptr) return fallback;
  if (!node->is_boolean()) fail(key, {.what = in_quotes(key) + " must be true or false", .value = type_name(*node)});
  return **node->as_boolean();
}

std::vector<double> Section::numbers(const std::string& key) const {
  std::vector<double> list;
  for (const auto& item : array(key, "[0, 1]")) {
    if (!item.is_number()) fail(key, {.what = in_quotes(key) + " must hold numbers", .value = type_name(item)});
    list.push_back(item.is_integer() ? static_cast<double>(**item.as_integer()) : **item.as_floating_point());
    if (!std::isfinite(list.back()))
      fail(key, {.what = in_quotes(key) + " must be finite", .value = number(list.back())});
  }
  return list;
}

std::vector<std::string> Section::texts(const std::string& key) const {
  std::vector<std::string> list;
  for (const auto& item : array(key, "[\"a\", \"b\"]")) {
    if (!item.is_string())
      fail(key, {.what = in_quotes(key) + " must hold text in quotes",
                 .value = type_name(item),
                 .fix = "write \"1\", not 1"});
    list.push_back(**item.as_string());
  }
  return list;
}

std::vector<std::string> Section::distinct_texts(const std::string& key) const {
  auto list = texts(key);
  if (list.empty()) fail(key, {.what = in_quotes(key) + " is empty", .allowed = "one value or more"});
  std::set<std::string> seen;
  for (const auto& item : list)
    if (!seen.insert(item).second)
      fail(key, {.what = in_quotes(key) + " lists a value twice", .value = in_quotes(item)});
  return list;
}

const toml::array& Section::array(const std::string& key, const std::string& example) const {
  const auto* node = find(key);
  if (node == nullptr)
    fail(key, {.what = "the key " + in_quotes(key) + " is missing", .fix = "add " + key + " = " + example});
  if (!node->is_array())
    fail(key,
         {.what = in_quotes(key) + " must be a list", .value = type_name(*node), .allowed = "for example " + example});
  return *node->as_array();
}

}  // namespace parley::data
