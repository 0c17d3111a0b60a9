// What may differ between two data sets that a run's epsilon is about: the word that stands beside every epsilon, and
// the sentence that explains it. Written by a run, read by a report (docs/approve/guarantee.md, the terms).
#pragma once
#include <string>
#include <string_view>

namespace parley::record {

enum class Adjacency {
  replace_one,  // one record of one node is replaced, and nothing else changes
  as_dealt,     // the same, but only once rows were dealt: the split read them, so a row of the table may move others
};

std::string name_of(Adjacency adjacency);  // privacy.adjacency
// privacy.adjacency_means; a sentence without its full stop. rows_per_person: 0 where the unit is one record.
std::string meaning_of(Adjacency adjacency, long rows_per_person = 0);

// The same in a party's statement about its own rows.
std::string meaning_in_statement(long rows_per_person);

// Whom an epsilon is for, the same words everywhere: "record"; "person (up to 4 rows)" where the schema says whose a
// record is.
std::string unit_in_words(long rows_per_person);

// As a record tells it: by its word and, since older records have the sentence of replace_one whatever the split, by
// its option --split. Fails closed: without the word, the weaker claim.
Adjacency adjacency_told(std::string_view word, std::string_view split);

}  // namespace parley::record
