#include "parley/data/read/seen_column.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "parley/data/schema_texts.h"

namespace parley::data {
namespace {

bool holds(const std::vector<std::string>& list, const std::string& item) {
  return std::ranges::find(list, item) != list.end();
}

// "patient_id", "ID", "case number": a name of its own, not a part of "width".
bool names_an_identifier(const std::string& name) {
  static const std::vector<std::string> words{"id", "ids",    "uuid", "guid", "key",   "nr",
                                              "no", "number", "mrn",  "ssn",  "index", "row"};
  std::string word;
  for (const char c : folded(name, Fold::letters) + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      word += c;
    } else {
      if (holds(words, word)) return true;
      word.clear();
    }
  }
  return false;
}

}  // namespace

std::optional<double> as_number(std::string_view text) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

SeenColumn::SeenColumn(const Table& table, std::size_t column, const std::vector<std::string>& marks, Fold fold)
    : name(table.columns[column]), rows(table.cells.size()) {
  std::set<std::string> missing_marks;
  for (const auto& mark : marks) missing_marks.insert(folded(mark, fold));
  for (const auto& row : table.cells) {
    const std::string& cell = row[column];
    const std::string text = folded(cell, fold);
    if (missing_marks.contains(text)) continue;
    ++cells;
    values.emplace(text, cell);
    if (const auto x = as_number(text)) {
      numbers.insert(*x);
    } else {
      if (no_numbers++ == 0) first_no_number = cell;
    }
    if (const auto day = day_of(text)) {
      days.insert(static_cast<double>(*day - *day_of(draft_since)));
    } else {
      if (no_dates++ == 0) first_no_date = cell;
    }
    codes = codes && code_of(text).has_value();
  }
}

bool SeenColumn::identifies() const {
  if (values.size() > 50 && 2 * values.size() > rows && !measured() && !dated()) return true;
  const bool each = rows >= 20 && codes && no_numbers == 0 && numbers.size() == rows;
  return each && (names_an_identifier(name) || *numbers.rbegin() - *numbers.begin() < static_cast<double>(rows));
}

std::optional<std::pair<std::vector<std::string>, std::vector<std::string>>> SeenColumn::positive_and_negative() const {
  static const std::vector<std::string> yes{"yes", "y", "true", "t", "1"}, no{"no", "n", "false", "f", "0"};
  std::pair<std::vector<std::string>, std::vector<std::string>> sides;
  bool all = true;
  for (const auto& [text, written] : values) {
    const std::string word = folded(text, Fold::letters);
    if (holds(yes, word)) sides.first.push_back(written);
    if (holds(no, word)) sides.second.push_back(written);
    all = all && (holds(yes, word) || holds(no, word));
  }
  if (all && !sides.first.empty() && !sides.second.empty()) return sides;
  if (values.size() != 2) return std::nullopt;
  const auto two = sorted();
  return std::pair{std::vector{two[1]}, std::vector{two[0]}};
}

std::vector<std::string> SeenColumn::sorted() const {
  std::vector<std::string> list;
  for (const auto& [text, written] : values) list.push_back(written);
  std::ranges::sort(list);
  if (no_numbers == 0) std::ranges::sort(list, {}, [](const std::string& s) { return std::pair(as_number(s), s); });
  return list;
}

std::vector<std::string> missing_words(const Table& table, std::vector<std::string> usual) {
  static const std::set<std::string> words{"n/a", "N/A", "na", "#N/A", "null", "NULL", "Null", "nan", "NaN", "NAN"};
  static const std::vector<std::string> signs{"-", "."};
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const SeenColumn seen(table, i, usual, Fold::none);
    if (seen.values.size() <= 2) continue;  // its two values are what it is about
    for (const auto& [text, written] : seen.values)
      if (words.contains(text) && !holds(usual, text)) usual.push_back(text);
    auto with = usual;
    with.insert(with.end(), signs.begin(), signs.end());
    if (const SeenColumn without(table, i, with, Fold::none); without.measured() && without.no_numbers <= 1)
      for (const auto& sign : signs)
        if (seen.values.contains(sign) && !holds(usual, sign)) usual.push_back(sign);
  }
  for (std::size_t i = 0; i < table.columns.size(); ++i) {  // "+" and "-" are a column's two values
    const SeenColumn seen(table, i, {}, Fold::none);
    if (seen.values.size() <= 2)
      std::erase_if(usual, [&](const std::string& w) { return holds(signs, w) && seen.values.contains(w); });
  }
  return usual;
}

bool needs_folding(const Table& table) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const SeenColumn plain(table, i, {}, Fold::none);
    if (plain.measured() || plain.dated() || plain.identifies()) continue;
    if (SeenColumn(table, i, {}, Fold::both).values.size() < plain.values.size()) return true;
  }
  return false;
}

}  // namespace parley::data
