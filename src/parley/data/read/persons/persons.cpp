#include "parley/data/read/persons/persons.h"

#include <algorithm>
#include <array>
#include <utility>

#include "parley/base/text.h"
#include "parley/data/read/columns.h"
#include "parley/data/schema_texts.h"

namespace parley::data {

namespace {

// Words for "missing" whatever the schema lists, in small letters and without blanks around.
bool names_nobody(const std::string& text) {
  static const std::array<std::string_view, 14> words{"",     "na", "n/a", "#n/a", "nan", "null",    "nil",
                                                      "none", "-",  "--",  ".",    "?",   "unknown", "missing"};
  return std::ranges::find(words, text) != words.end();
}

}  // namespace

PersonColumn::PersonColumn(const std::vector<std::string>& columns, const std::string& source, const Schema& schema)
    : schema_(schema), cell_(need_column(columns, source, schema.unit.person, "person column")), missing_(schema) {}

std::string PersonColumn::of(std::span<const Cell> row, const Place& where) const {
  std::string text = folded(row[cell_], schema_.fold);
  if (missing_.is(text) || missing_.is(trim(text)) || names_nobody(folded(row[cell_], Fold::both)))
    throw Error({.what = "person column '" + schema_.unit.person + "' is missing: nobody can tell whose row this is",
                 .value = quoted(row[cell_]),
                 .allowed = "a text of the person's own; no blank and no word for \"missing\"",
                 .where = where.text(),
                 .fix = "fill the cell, or take the row out"});
  return text;
}

void Spellings::add(std::string_view text) {
  const std::size_t same = ++texts_[folded(text, Fold::both)];
  if (same > 1) alike_ += same == 2 ? 2 : 1;
}

std::string Spellings::in_words(std::size_t alike, const std::string& column) {
  return std::to_string(alike) + " texts of persons in '" + column +
         "' differ from another one only in capital letters or blanks, and each counts as a person of its own: if they "
         "are not, all parties set fold = \"both\" (private: counted on the rows)";
}

std::size_t Persons::spelt_alike() const {
  if (schema_.fold == Fold::both) return 0;
  Spellings spellings;
  for (const std::string& text : texts_) spellings.add(text);
  return spellings.alike();
}

Persons::Row Persons::add(std::string person) {
  const auto [at, first] = number_.try_emplace(std::move(person), static_cast<std::uint32_t>(texts_.size()));
  if (first) {
    texts_.push_back(at->first);
    rows_.push_back(0);
  }
  long& rows = rows_[at->second];
  const bool too_many = ++rows > schema_.unit.rows_per_person;
  if (too_many) ++extra_;
  if (rows == schema_.unit.rows_per_person + 1) ++over_;
  return {.number = at->second, .too_many = too_many};
}

Error::Fields Persons::refused(const Place& where) const {
  return {.what = "a person has more rows than the schema allows for: the guarantee would not cover this one",
          .value = "row " + std::to_string(schema_.unit.rows_per_person + 1) + " with the same '" +
                   schema_.unit.person + "'",
          .allowed = "rows_per_person = " + std::to_string(schema_.unit.rows_per_person),
          .where = where.text(),
          .fix =
              "take rows out, or all parties set extra_rows = \"drop\" (the first ones stay) or a larger "
              "rows_per_person, which costs more noise"};
}

}  // namespace parley::data
