#include <cmath>
#include <utility>

#include "parley/base/text.h"
#include "parley/data/schema.h"

namespace parley::data {

double transformed(Transform t, double x) {
  if (t == Transform::log1p) return std::log1p(x);
  if (t == Transform::sqrt) return std::sqrt(x);
  return x;
}

std::vector<std::string> feature_names(const Column& c) {
  std::vector<std::string> names;
  if (c.kind == Kind::numeric && c.transform == Transform::bins) {
    names.push_back(c.name + "(-inf," + number(c.edges.front()) + ")");
    for (std::size_t i = 1; i < c.edges.size(); ++i)
      names.push_back(c.name + "[" + number(c.edges[i - 1]) + "," + number(c.edges[i]) + ")");
    names.push_back(c.name + "[" + number(c.edges.back()) + ",inf)");
  } else if (c.kind == Kind::numeric) {
    names.push_back(c.name);
  } else if (c.kind == Kind::categorical) {
    for (const auto& category : c.categories) names.push_back(c.name + "=" + category);
    if (c.other == Other::bucket) names.push_back(c.name + "=other");
  }
  if (c.reference) names.erase(names.begin());
  return names;
}

std::vector<std::string> feature_names(const Schema& schema) {
  std::vector<std::string> names;
  for (const auto& c : schema.columns)
    for (auto& name : feature_names(c)) names.push_back(std::move(name));
  if (schema.intercept) names.emplace_back("(intercept)");
  return names;
}

bool covers_all(const Column& c) {
  if (c.kind == Kind::categorical) return c.missing != Missing::zero && c.other != Other::zero;
  return c.kind == Kind::numeric && c.transform == Transform::bins && c.missing != Missing::zero;
}

double divisor(const Schema& schema) {
  return std::nextafter(std::sqrt(static_cast<double>(most_entries(schema))), HUGE_VAL);
}

long most_entries(const Schema& schema) {
  long entries = schema.intercept ? 1 : 0;
  for (const auto& c : schema.columns) entries += feature_names(c).empty() ? 0 : 1;
  return entries;
}

}  // namespace parley::data
