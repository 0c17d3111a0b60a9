#include "parley/data/toml_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
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

}  // namespace

Section::Section(const toml::table& table, std::string file, std::string name)
    : table_(&table), file_(std::move(file)), name_(std::move(name)) {}

std::string Section::line_of(const toml::node& node) const {
  const auto line = node.source().begin.line;
  return line == 0 ? file_ : file_ + ":" + std::to_string(line);
}

void Section::fail(const std::string& key, Error::Fields p) const {
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

long Section::whole(const std::string& key, long low, long high) const {
  const std::string allowed = "a whole number from " + std::to_string(low) + " to " + std::to_string(high);
  const auto* node = find(key);
  if (node == nullptr) fail(key, {.what = "the key " + in_quotes(key) + " is missing", .allowed = allowed});
  if (!node->is_integer())
    fail(key, {.what = in_quotes(key) + " must be a whole number", .value = type_name(*node), .allowed = allowed});
  const std::int64_t value = **node->as_integer();
  if (value < low || value > high)
    fail(key, {.what = in_quotes(key) + " is out of range", .value = std::to_string(value), .allowed = allowed});
  return static_cast<long>(value);
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

std::vector<std::pair<std::string, std::string>> Section::pairs(const std::string& key) const {
  const auto* node = find(key);
  const auto* table = node == nullptr ? nullptr : node->as_table();
  if (table == nullptr || table->empty())
    fail(key, {.what = in_quotes(key) + " must be pairs of texts", .allowed = "for example { \"M\" = \"male\" }"});
  std::vector<std::pair<std::string, std::string>> list;
  for (const auto& [name, value] : *table) {
    if (!value.is_string())
      fail(key, {.what = in_quotes(key) + " must hold text in quotes", .value = type_name(value)});
    list.emplace_back(std::string(name.str()), **value.as_string());
  }
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
