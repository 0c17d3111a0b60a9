#include "parley/record/adjacency.h"

namespace parley::record {

std::string name_of(Adjacency adjacency) {
  return adjacency == Adjacency::as_dealt ? "as dealt" : "replace-one";
}

std::string meaning_of(Adjacency adjacency) {
  if (adjacency == Adjacency::as_dealt)
    return "one record of one node is replaced after the rows were dealt; the split reads rows, so replacing a row of "
           "the table may move other rows and change the data of several nodes, and no epsilon is claimed for that";
  return "one record of one node is replaced; the numbers of records are public";
}

Adjacency adjacency_told(std::string_view word, std::string_view split) {
  const bool says_so = word == name_of(Adjacency::replace_one) || word == meaning_of(Adjacency::replace_one);
  const bool reads_rows = split == "column" || split == "label-skewed";  // simulate_test.cpp: as data/split.h has it
  return says_so && !reads_rows ? Adjacency::replace_one : Adjacency::as_dealt;
}

}  // namespace parley::record
