// The guarantee in words, and numbers as people read them.
#pragma once
#include <string>
#include <vector>

#include "parley/report/group.h"

namespace parley::report {

std::string count_text(double count);                  // 40,000
std::string value_text(double value);                  // 4 digits
bool of_numbers(const Run& run);                       // the model predicts a number, not a class
std::string error_text(const Run& run, double error);  // of classes: percent; of numbers: root mean square
                                                       // in the column's own unit
std::string own_rows_in_words(const Run& run);         // whether the model has seen the rows it was measured on
std::string spread_text(const Spread& s);              // mean, and the range over several runs

// Several runs on the same rows: what whoever sees all of them learns at most (basic composition).
struct Total {
  int runs = 0;
  double epsilon = 0, delta = 0;
};
Total total(const std::vector<Group>& groups);

bool all_private(const std::vector<Group>& groups);
bool any_void(const std::vector<Group>& groups);  // of a run a party's ε does not hold, so none of it is shown
std::vector<std::string> stamps(const std::vector<Group>& groups);  // why not, each once

bool any_as_dealt(const std::vector<Group>& groups);
// Whom all these claims cover: the price of a person covers one record, and one of fewer rows.
long least_rows_per_person(const std::vector<Group>& groups);
bool any_measured(const std::vector<Group>& groups);  // on rows: losses and errors, in runs read for their owner
std::string delta_warning(const std::vector<Group>& groups);    // δ ≥ 1/B_i, from what the page shows; "": none
bool publishing_allowed(const std::vector<Group>& groups);      // by such a δ
std::string epsilon_warning(const std::vector<Group>& groups);  // ε > 10
// "Anyone who sees every message of this run learns at most ε = 1.0000, δ = 1e-05 about any one record."
std::string guarantee_sentence(const std::vector<Group>& groups);
std::vector<std::string> in_plain_words(const std::vector<Group>& groups);  // paragraphs
std::vector<std::string> assumptions(const std::vector<Group>& groups);

}  // namespace parley::report
