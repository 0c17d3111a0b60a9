#include "parley/data/toml_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
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

void try_parse(std::string_view text, const std::string& file, const std::string& fix, toml::table& root) {
  try {
    root = toml::parse(text);
  } catch (const toml::parse_error& e) {
    throw Error({.what = "not valid TOML: " + std::string(e.description()),
                 .where = file + ":" + std::to_string(e.source().begin.line),
                 .fix = fix});
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

nlohmann::json to_json(const toml::node& node) {
  if (const auto* value = node.as_string()) return value->get();
  if (const auto* value = node.as_integer()) return value->get();
  if (const auto* value = node.as_floating_point()) return value->get();
  if (const auto* value = node.as_boolean()) return value->get();
  nlohmann::json list = nlohmann::json::array();
  if (const auto* array = node.as_array())
    for (const auto& element : *array) list.push_back(to_json(element));
  return list;
}

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
