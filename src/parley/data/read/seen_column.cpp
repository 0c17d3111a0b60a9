#include "parley/data/read/seen_column.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "parley/base/text.h"
#include "parley/data/schema_texts.h"

namespace parley::data {
namespace {

bool holds(const std::vector<std::string>& list, const std::string& item) {
  return std::ranges::find(list, item) != list.end();
}

// "patient_id", "CaseNumber2": its words, in small letters.
std::vector<std::string> words_in(const std::string& name) {
  std::vector<std::string> words{""};
  char before = ' ';
  for (const char c : name) {
    const auto code = static_cast<unsigned char>(c);
    const bool begins = std::isupper(code) != 0 && std::islower(static_cast<unsigned char>(before)) != 0;
    if (std::isalnum(code) == 0 || begins) words.emplace_back();
    if (std::isalnum(code) != 0) words.back() += static_cast<char>(std::tolower(code));
    before = c;
  }
  return words;
}

const std::vector<std::string> identifier_words{"id", "ids", "uuid", "guid", "mrn", "ssn"};
// Words that also count and measure ("number of visits", "body mass index"): they name an identifier where no two rows
// have the same.
const std::vector<std::string> numbering_words{"key", "nr", "no", "number", "index", "row"};
const std::vector<std::string> person_words{"person",  "patient", "customer", "client",      "member", "user",
                                            "subject", "insured", "account",  "participant", "pat",    "people"};

bool has_word(const std::string& name, const std::vector<std::string>& list) {
  return std::ranges::any_of(words_in(name), [&](const std::string& word) { return holds(list, word); });
}

// "patientid", "customer no", "person": a person's, and not a measure of one ("patient age").
bool numbers_persons(const std::string& name) {
  const std::string word = join(words_in(name), "");
  return std::ranges::any_of(person_words, [&](const std::string& person) {
    if (!word.starts_with(person)) return false;
    const std::string rest = word.substr(person.size());
    return rest.empty() || holds(identifier_words, rest) || holds(numbering_words, rest);
  });
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

bool SeenColumn::one_per_row() const {
  if (values.size() < cells) return false;
  if (values.size() > 50 && 2 * values.size() > rows && !measured() && !dated()) return true;
  const bool each = rows >= 20 && codes && no_numbers == 0 && numbers.size() == rows;
  return each && (has_word(name, identifier_words) || has_word(name, numbering_words) || numbers_persons(name) ||
                  *numbers.rbegin() - *numbers.begin() < static_cast<double>(rows));
}

// Categories are few, or have many rows each.
bool SeenColumn::few_rows_each() const {
  constexpr std::size_t most = 10;
  return values.size() < cells && values.size() > many && cells <= most * values.size();
}

// A name is asked where the form does not decide: of numbers, which may be measured, and of texts that are not so many.
bool SeenColumn::repeats() const {
  constexpr std::size_t many_texts = 50;
  if (!few_rows_each() || dated()) return false;
  const bool named = has_word(name, identifier_words) || numbers_persons(name);
  return measured() ? named && codes : named || values.size() > many_texts;
}

bool SeenColumn::may_number() const {
  constexpr std::size_t many_numbers = 100;  // more than ages
  return few_rows_each() && measured() && codes && values.size() > many_numbers && !repeats();
}

bool SeenColumn::named_person() const {
  return numbers_persons(name);
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
    if (plain.measured() || plain.dated() || plain.one_per_row()) continue;
    if (SeenColumn(table, i, {}, Fold::both).values.size() < plain.values.size()) return true;
  }
  return false;
}

}  // namespace parley::data
