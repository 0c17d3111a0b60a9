#include "parley/record/adjacency.h"

namespace parley::record {

std::string name_of(Adjacency adjacency) {
  return adjacency == Adjacency::as_dealt ? "as dealt" : "replace-one";
}

std::string unit_in_words(long rows_per_person) {
  if (rows_per_person == 0) return "record";
  return rows_per_person == 1 ? "person (1 row)" : "person (up to " + std::to_string(rows_per_person) + " rows)";
}

std::string meaning_of(Adjacency adjacency, long rows_per_person) {
  const std::string unit =
      rows_per_person == 0 ? "one record of one node is replaced"
                           : "what the rows of one " + unit_in_words(rows_per_person) + " at one node hold is replaced";
  if (adjacency == Adjacency::as_dealt)
    return unit +
           " after the rows were dealt; the split reads rows, so replacing a row of the table may move other rows "
           "and change the data of several nodes, and no epsilon is claimed for that";
  return unit + "; the numbers of records are public";
}

std::string meaning_in_statement(long rows_per_person) {
  if (rows_per_person == 0) return "one record of this party is replaced by any other; the number of records is public";
  return "what the rows of one " + unit_in_words(rows_per_person) +
         " of this party hold is replaced by anything else; the number of rows is public";
}

Adjacency adjacency_told(std::string_view word, std::string_view split) {
  const bool says_so = word == name_of(Adjacency::replace_one) || word == meaning_of(Adjacency::replace_one);
  const bool reads_rows = split == "column" || split == "label-skewed";  // simulate_test.cpp: as data/split.h has it
  return says_so && !reads_rows ? Adjacency::replace_one : Adjacency::as_dealt;
}

}  // namespace parley::record
