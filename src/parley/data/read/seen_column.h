// What the rows of a sample show of one column, for a draft (describe.h).
// Privacy: reads rows; for public or synthetic samples only.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "parley/data/schema.h"
#include "parley/data/table.h"

namespace parley::data {

std::optional<double> as_number(std::string_view text);

// The marks of a draft: the usual ones, and the words for "missing" that occur. "-" and "." count where the rest of the
// column is numbers.
std::vector<std::string> missing_words(const Table& table, std::vector<std::string> usual);

// Whether a column of words has the same word in several spellings (capital letters, blanks).
bool needs_folding(const Table& table);

struct SeenColumn {
  SeenColumn(const Table& table, std::size_t column, const std::vector<std::string>& marks, Fold fold);

  static constexpr std::size_t many = 12;          // up to here different numbers are taken for codes
  static constexpr std::size_t most_classes = 20;  // of a label

  std::string name;
  std::map<std::string, std::string> values;  // folded → as it is written first; without the missing marks
  std::set<double> numbers;                   // of those values that are numbers
  std::set<double> days;                      // of those that are dates: since draft_since
  std::size_t rows = 0, cells = 0;            // cells: not missing
  std::size_t no_numbers = 0, no_dates = 0;   // cells
  std::string first_no_number, first_no_date;
  bool codes = true;  // all values are whole numbers

  static constexpr const char* draft_since = "2000-01-01";

  bool missing() const { return cells < rows; }
  bool constant() const { return values.size() + (missing() ? 1 : 0) <= 1; }
  // A few cells that do not fit are mistakes of these cells, not a reason to see categories.
  bool measured() const { return numbers.size() > many && few(no_numbers); }
  bool dated() const { return days.size() > 1 && few(no_dates); }
  bool classes() const {  // 3 to 20 values, not one per row
    return values.size() >= 3 && values.size() <= most_classes && 2 * values.size() <= rows && !measured() &&
           !missing();
  }
  // An identifier: texts, or numbers that a name calls one, of which there are too many to be categories.
  bool identifies() const { return one_per_row() || repeats(); }
  bool one_per_row() const;   // it tells no two rows of a person from rows of two persons
  bool repeats() const;       // so that rows with the same text may be one person's
  bool may_number() const;    // whole numbers that repeat as those of persons do, and may be measured just as well
  bool named_person() const;  // its name speaks of persons: "patient_id", "CustomerNo"
  // yes and no in any of their words, or the only two values, the larger one positive.
  std::optional<std::pair<std::vector<std::string>, std::vector<std::string>>> positive_and_negative() const;
  std::vector<std::string> sorted() const;  // as written; by size when all are numbers, else by bytes

 private:
  bool few_rows_each() const;
  bool few(std::size_t wrong) const { return wrong <= std::max<std::size_t>(1, cells / 20); }
};

}  // namespace parley::data
