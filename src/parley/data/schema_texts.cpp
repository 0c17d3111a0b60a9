#include "parley/data/schema_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <map>

#include "parley/base/error.h"
#include "parley/data/read/cell_number.h"

namespace parley::data {
namespace {

constexpr Word<DatePart> date_parts[]{{"none", DatePart::none},
                                      {"days", DatePart::days},
                                      {"year", DatePart::year},
                                      {"month", DatePart::month},
                                      {"weekday", DatePart::weekday}};

std::string word_of(DatePart part) {
  return std::string(std::ranges::find(date_parts, part, &Word<DatePart>::value)->text);
}

bool whole_numbers(const Section& s) {
  const auto* node = s.find("categories");
  const auto* list = node == nullptr ? nullptr : node->as_array();
  return list != nullptr && !list->empty() && list->is_homogeneous<std::int64_t>();
}

void read_aliases(const Section& s, Column& c) {
  if (!s.has("aliases")) return;
  c.aliases = s.pairs("aliases");
  for (const auto& [text, category] : c.aliases) {
    if (std::ranges::find(c.categories, category) == c.categories.end())
      s.fail("aliases", {.what = "an alias leads to no category",
                         .value = in_quotes(category),
                         .allowed = "'" + join(c.categories, "', '") + "'",
                         .fix = "write \"text in a cell\" = \"category\""});
    if (std::ranges::find(c.categories, text) != c.categories.end())
      s.fail("aliases",
             {.what = "an alias is a category itself", .value = in_quotes(text), .fix = "remove one of the two"});
  }
}

int digits(std::string_view text) {
  int value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc{} && end == text.data() + text.size() && text.front() != '-' ? value : -1;
}

}  // namespace

void read_date(const Section& s, Column& c) {
  c.date = s.choice("date", date_parts, DatePart::none);
  if (c.date == DatePart::days) {
    c.since = s.text("since");
    if (c.since.size() != 10 || !day_of(c.since))
      s.fail(
          "since",
          {.what = "'since' must be a date of the calendar", .value = in_quotes(c.since), .allowed = "\"YYYY-MM-DD\""});
  } else if (s.has("since")) {
    s.fail("since", {.what = "'since' has no meaning without date = \"days\"", .fix = "remove the line"});
  }
}

constexpr Word<ExtraRows> extra_rows[]{{"error", ExtraRows::error}, {"drop", ExtraRows::drop}};

void read_person(const Section& top, Schema& schema) {
  if (!top.has("person")) {
    for (const char* key : {"rows_per_person", "extra_rows"})
      if (top.has(key))
        top.fail(key, {.what = in_quotes(key) + " has no meaning without 'person'",
                       .fix = "add person = \"COLUMN\", whose text is the same in all rows of one person"});
    return;
  }
  schema.unit.person = top.text("person");
  if (schema.unit.person.empty()) top.fail("person", {.what = "'person' is empty", .allowed = "the name of a column"});
  if (const auto* rows = top.find("rows_per_person"); rows != nullptr && rows->value<std::string>() == "DECIDE")
    top.fail("rows_per_person", {.what = "nobody has decided how many rows one person may have",
                                 .value = "\"DECIDE\"",
                                 .allowed = "a whole number from 1 to " + std::to_string(most_rows_per_person),
                                 .fix = "write the most rows that a person may have, known from the purpose of the "
                                        "table; if the column tells no persons apart, delete both lines"});
  schema.unit.rows_per_person = top.whole("rows_per_person", 1, most_rows_per_person);
  schema.extra_rows = top.choice("extra_rows", extra_rows, ExtraRows::error);
}

void check_person(const Section& top, const Schema& schema) {
  if (schema.unit.person.empty()) return;
  const auto fail = [&](const std::string& what, const std::string& fix) {
    top.fail("person", {.what = what, .value = in_quotes(schema.unit.person), .fix = fix});
  };
  if (schema.unit.person == schema.label.column)
    fail("the label column cannot say whose a row is", "name the column that tells persons apart");
  for (const Column& c : schema.columns)
    if (c.name == schema.unit.person && c.kind != Kind::drop)
      fail("the column that says whose a row is may not be a feature", "set kind = \"drop\" for it, or leave it out");
}

void read_categories(const Section& s, Column& c) {
  c.codes = whole_numbers(s);
  if (c.codes)
    for (const double code : s.numbers("categories")) c.categories.push_back(number(code));
  else
    c.categories = s.distinct_texts("categories");
  if (c.codes)
    for (std::size_t i = 0; i < c.categories.size(); ++i)
      if (code_of(c.categories[i]) != c.categories[i] ||
          std::find(c.categories.begin(), c.categories.begin() + static_cast<std::ptrdiff_t>(i), c.categories[i]) !=
              c.categories.begin() + static_cast<std::ptrdiff_t>(i))
        s.fail("categories", {.what = "a code is listed twice, or is too large", .value = c.categories[i]});
  read_aliases(s, c);
  read_date(s, c);
  if (c.date == DatePart::days)
    s.fail("date", {.what = "days are no categories", .fix = "kind = \"numeric\", or date = \"month\""});
  if (c.date != DatePart::none && !c.codes)
    s.fail("categories", {.what = "parts of a date are whole numbers", .fix = "write categories = [1, 2, 3]"});
}

void check_folded(const Section& top, const Schema& schema) {
  std::vector<std::vector<std::string>> groups{schema.missing, schema.label.classes, schema.label.positive};
  groups.back().insert(groups.back().end(), schema.label.negative.begin(), schema.label.negative.end());
  for (const auto& c : schema.columns) {
    groups.push_back(c.categories);
    for (const auto& [text, category] : c.aliases) groups.back().push_back(text);
  }
  if (schema.fold == Fold::none) return;
  for (const auto& group : groups) {
    std::map<std::string, std::string> seen;
    for (const auto& text : group)
      if (const auto [before, first] = seen.emplace(folded(text, schema.fold), text); !first)
        top.fail("fold", {.what = "two texts are the same after folding",
                          .value = in_quotes(before->second) + " and " + in_quotes(text),
                          .fix = "keep one of them"});
  }
  for (const auto& c : schema.columns)
    for (const auto& mark : schema.missing)
      for (const auto& category : c.categories)
        if (c.missing != Missing::category && folded(mark, schema.fold) == folded(category, schema.fold))
          top.fail("fold", {.what = "a category is also a missing mark after folding",
                            .value = in_quotes(category),
                            .fix = "set missing = \"category\" for this column, or take one of them out"});
}

std::string person_to_toml(const Schema& schema) {
  if (schema.unit.person.empty()) return "";
  const auto word = std::ranges::find(extra_rows, schema.extra_rows, &Word<ExtraRows>::value);
  return "person = " + toml_text(schema.unit.person) +
         "\nrows_per_person = " + std::to_string(schema.unit.rows_per_person) + "\nextra_rows = \"" +
         std::string(word->text) + "\"\n";
}

std::string categories_to_toml(const Column& c) {
  std::string s = "categories = ";
  s += c.codes ? "[" + join(c.categories, ", ") + "]" : toml_list(c.categories, toml_text);
  s += "\n";
  if (c.aliases.empty()) return s;
  std::vector<std::string> parts;
  for (const auto& [text, category] : c.aliases) parts.push_back(toml_text(text) + " = " + toml_text(category));
  return s + "aliases = { " + join(parts, ", ") + " }\n";
}

std::string dates_to_toml(const Column& c) {
  if (c.date == DatePart::none) return "";
  return "date = \"" + word_of(c.date) + "\"\n" + (c.since.empty() ? "" : "since = " + toml_text(c.since) + "\n");
}

// A basic string: quote, backslash and control characters escaped, UTF-8 as it is.
std::string toml_text(const std::string& text) {
  std::string s = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      s += '\\';
      s += c;
    } else if (code < 0x20 || code == 0x7F) {
      s += fmt::format("\\u{:04X}", code);
    } else {
      s += c;
    }
  }
  return s + "\"";
}

std::string folded(std::string_view text, Fold fold) {
  std::string s;
  if (fold == Fold::blanks || fold == Fold::both) {
    for (const char c : trim(text)) {
      const bool blank = c == ' ' || c == '\t' || c == '\r' || c == '\n';
      if (!blank || s.back() != ' ') s += blank ? ' ' : c;
    }
  } else {
    s = text;
  }
  if (fold == Fold::letters || fold == Fold::both)
    for (char& c : s)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return s;
}

std::optional<long> day_of(std::string_view text) {
  using namespace std::chrono;
  if (text.size() < 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  if (text.size() > 10 && std::string_view("Tt ").find(text[10]) == std::string_view::npos) return std::nullopt;
  const int y = digits(text.substr(0, 4)), m = digits(text.substr(5, 2)), d = digits(text.substr(8, 2));
  if (y < 1 || m < 1 || d < 1) return std::nullopt;
  const year_month_day date{year(y), month(static_cast<unsigned>(m)), day(static_cast<unsigned>(d))};
  if (!date.ok()) return std::nullopt;
  return sys_days(date).time_since_epoch().count();
}

double date_part(long number, const Column& c) {
  using namespace std::chrono;
  const sys_days then{days(number)};
  const year_month_day date(then);
  if (c.date == DatePart::year) return static_cast<int>(date.year());
  if (c.date == DatePart::month) return static_cast<unsigned>(date.month());
  if (c.date == DatePart::weekday) return weekday(then).iso_encoding();
  return static_cast<double>(number - day_of(c.since).value_or(0));
}

std::optional<std::string> code_of(std::string_view cell) {
  double x = 0;
  if (!any_number(cell, x) || x != std::floor(x) || std::abs(x) >= 0x1p53) return std::nullopt;
  return fmt::format("{}", static_cast<long long>(x));
}

}  // namespace parley::data
