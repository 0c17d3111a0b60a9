#include "parley/data/read/persons/persons.h"

#include <utility>

#include "parley/data/read/columns.h"
#include "parley/data/schema_texts.h"

namespace parley::data {

PersonColumn::PersonColumn(const std::vector<std::string>& columns, const std::string& source, const Schema& schema)
    : schema_(schema), cell_(need_column(columns, source, schema.unit.person, "person column")), missing_(schema) {}

std::string PersonColumn::of(std::span<const Cell> row, const Place& where) const {
  std::string text = folded(row[cell_], schema_.fold);
  if (missing_.is(text))
    throw Error({.what = "person column '" + schema_.unit.person + "' is missing: nobody can tell whose row this is",
                 .value = quoted(row[cell_]),
                 .where = where.text(),
                 .fix = "fill the cell, or take the row out"});
  return text;
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
