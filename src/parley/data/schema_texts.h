// The part of a schema that says which texts mean the same: folding, aliases, codes, dates, persons. schema.cpp calls it.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/text.h"
#include "parley/data/schema.h"
#include "parley/data/toml_section.h"

namespace parley::data {

void read_categories(const Section& section, Column& column);  // categories, codes, aliases, date
void read_date(const Section& section, Column& column);
void read_person(const Section& top, Schema& schema);         // before the columns
void check_person(const Section& top, const Schema& schema);  // after them: it is no feature and not the label
void check_folded(const Section& top, const Schema& schema);  // no two texts become one by folding

std::string categories_to_toml(const Column& column);
std::string dates_to_toml(const Column& column);
std::string person_to_toml(const Schema& schema);
std::string toml_text(const std::string& text);

template <class T, class Write>
std::string toml_list(const std::vector<T>& list, Write write) {
  std::vector<std::string> parts;
  parts.reserve(list.size());
  for (const auto& item : list) parts.push_back(write(item));
  return "[" + join(parts, ", ") + "]";
}

// The text without what the rule says does not count: capital letters (of ASCII) become small ones; blanks at both ends
// go, and several in a row become one.
std::string folded(std::string_view text, Fold fold);

// "2024-02-29", a time of day may follow ("2024-02-29T10:00", "2024-02-29 10:00"): days since 1970-01-01. nullopt: no
// date of the calendar.
std::optional<long> day_of(std::string_view text);
double date_part(long day, const Column& column);

// "01", "1", "+1" and "1.0" are the code "1"; nullopt: no whole number below 2^53.
std::optional<std::string> code_of(std::string_view cell);

}  // namespace parley::data
