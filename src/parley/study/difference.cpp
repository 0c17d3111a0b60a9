// Where two studies differ, for people. What a peer sent is shown as printable ASCII and cut off, whatever it is.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "parley/base/text.h"
#include "parley/study/study.h"

namespace parley::study {
namespace {

using nlohmann::json;

bool is_empty_text(const json& value) {
  return value.is_string() && value.get_ref<const std::string&>().empty();
}

std::string shown(const json& value) {
  constexpr std::size_t most = 80;
  if (value.is_null() || is_empty_text(value)) return "nothing";
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (value.is_string()) {
    text = text.substr(1, text.size() - 2);
    for (std::size_t at = 0; (at = text.find('\\', at)) != std::string::npos;)  // \" is shown as "
      if (text[at + 1] == '"')
        text.erase(at++, 1);
      else
        at += 2;
  }
  return text.size() <= most ? text : text.substr(0, most) + "...";
}

bool same(const json& a, const json& b) {  // 1 and 1.0 hash differently
  const auto text = [](const json& j) { return j.dump(-1, ' ', true, json::error_handler_t::replace); };
  return text(a) == text(b);
}

// Trap: dump and copy recurse, and would run out of stack on a few thousand brackets.
bool is_deep(const json& value) {
  std::vector<std::pair<const json*, int>> open{{&value, 0}};
  while (!open.empty()) {
    const auto [one, depth] = open.back();
    open.pop_back();
    if (depth > 4) return true;
    if (one->is_structured())
      for (const json& inner : *one) open.emplace_back(&inner, depth + 1);
  }
  return false;
}

json member(const json& object, const std::string& key) {
  return object.is_object() && object.contains(key) ? object.at(key) : json();
}

struct Comparison {
  std::string peer;

  std::string values(const std::string& field, const json& here, const json& there) const {
    return field + ": " + shown(here) + " here, " + shown(there) + " at " + peer;
  }

  std::string fields(const json& here, const json& there, const std::set<std::string>& skip = {}) const {
    std::set<std::string> keys;
    for (const json* object : {&here, &there})
      if (object->is_object())
        for (const auto& item : object->items()) keys.insert(item.key());
    for (const std::string& key : keys)
      if (!skip.contains(key) && !same(member(here, key), member(there, key)))
        return values(shown(key), member(here, key), member(there, key));
    return "";
  }

  std::string parties(const json& here, const json& there) const {
    if (!here.is_array() || !there.is_array()) return values("parties", here, there);
    for (std::size_t i = 0; i < std::min(here.size(), there.size()); ++i) {
      const json a = member(here[i], "name"), b = member(there[i], "name");
      if (!same(a, b)) return values("party " + std::to_string(i) + " of the roster", a, b);
      if (const std::string found = fields(here[i], there[i]); !found.empty()) return shown(a) + ", " + found;
    }
    return values("number of parties", here.size(), there.size());
  }

  std::string edges(const json& here, const json& there) const {
    if (!here.is_array() || !there.is_array()) return values("graph", here, there);
    const auto missing = [&](const json& from, const json& in, const std::string& where) {
      for (const json& edge : from)
        if (std::ranges::find(in, edge) == in.end()) {
          const bool pair = edge.is_array() && edge.size() == 2;
          const std::string ends = pair ? shown(edge[0]) + " and " + shown(edge[1]) : shown(edge);
          return fmt::format("graph: {} are neighbours {}", ends, where);
        }
      return std::string();
    };
    std::string more = missing(here, there, "here, not at " + peer);
    if (!more.empty()) return more;
    std::string less = missing(there, here, "at " + peer + ", not here");
    if (!less.empty()) return less;
    return values("graph", here, there);
  }

  // A key is not always there (fold), and then every later line stands one further down: whether this line's key is
  // missing in the section of the other one from line i on.
  static bool alone(const std::vector<std::string>& other, std::size_t i, const json& line) {
    if (!line.is_string()) return false;
    const std::string text = line.get<std::string>(), key = text.substr(0, text.find(" = ") + 1);
    if (key.empty()) return false;
    for (; i < other.size() && !other[i].empty(); ++i)
      if (other[i].starts_with(key)) return false;
    return true;
  }

  // The first line that differs, and the column to which it belongs.
  std::string schema(const json& here, const json& there) const {
    if (!here.is_string() || !there.is_string()) return values("schema", here, there);
    const auto which = [](const json& text) { return is_empty_text(text) ? "none" : "one"; };
    if (is_empty_text(here) || is_empty_text(there)) return values("schema", which(here), which(there));
    const auto a = split_list(here.get<std::string>(), '\n'), b = split_list(there.get<std::string>(), '\n');
    std::string section = "schema";
    for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
      const json one = i < a.size() ? json(a[i]) : json(), other = i < b.size() ? json(b[i]) : json();
      if (!same(one, other))
        return values(section,
                      alone(b, i, one)     ? one
                      : alone(a, i, other) ? json()
                                           : one,
                      alone(b, i, one) ? json() : other);
      if (a[i] == "[label]") section = "schema, label";
      if (a[i].starts_with("name = ")) section = "schema, column " + shown(a[i].substr(7));
    }
    return values("schema", here, there);
  }
};

}  // namespace

std::string difference(const json& here, const json& there, const std::string& peer) {
  const Comparison c{peer};
  if (!there.is_object() || is_deep(there)) return c.values("study", "a study", "something else");
  if (same(here, there)) return "";
  for (const char* key : {"format", "nonce"})
    if (const json a = member(here, key), b = member(there, key); !same(a, b))
      return c.values(key, a, b) +
             (std::string(key) == "nonce" ? " (two studies, not two copies of one)" : " (two versions of parley)");
  const auto differs = [&](const char* key) { return !same(member(here, key), member(there, key)); };
  if (differs("parties")) return c.parties(member(here, "parties"), member(there, "parties"));
  if (differs("schema")) return c.schema(member(here, "schema"), member(there, "schema"));
  const auto inside = [&](const char* key) { return c.fields(member(here, key), member(there, key)); };
  if (std::string found = inside("options"); !found.empty()) return found;
  if (std::string found = c.fields(here, there, {"edges", "options", "planned"}); !found.empty()) return found;
  if (differs("edges")) return c.edges(member(here, "edges"), member(there, "edges"));
  // The same decisions and another plan: last, because every other difference makes one.
  const std::string planned = inside("planned");
  return (planned.empty() ? std::string("options") : "planned " + planned) + " (two versions of parley?)";
}

}  // namespace parley::study
