// What a model says of new rows, as CSV.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "parley/problem/quality.h"
#include "parley/run/model.h"

namespace parley::run {

struct Decision {
  // Of a probability (logistic, or with `of`); of a hinge: of its score. Empty: one half, of a score 0.
  std::optional<double> threshold{};
  std::string of{};  // one class: its probability alone, and whether it lies above the threshold; empty: all
};

// Error where the model has no such class, or no probability to compare a threshold with.
void check_decision(const Model& model, const Decision& decision);

// Of a model with class weights: what its probabilities are. "" where they are shares, or where there are none.
std::string note_on_probabilities(const Model& model);

// The threshold of a model with one score for the positive class, on that score.
double score_threshold(const Model& model, const Decision& decision);

// Scores of rows with the bits that prediction_csv prints; problem::scored adds in another order.
problem::Scored scored_alone(const Model& model, const data::Rows& rows);

// Of what a model says of rows, row after row. Probabilities: one for each class; Error where the model has none.
// Predictions: the number of the class, or a number in the label's own unit.
std::vector<double> class_probabilities(const Model& model, const problem::Scored& rows);
std::vector<double> predicted(const Model& model, const problem::Scored& rows);

// One line per row: "row,prediction" (regression, in the label's own unit), "row,probability,prediction" (logistic),
// "row,score,prediction" (a hinge's score is no probability), "row,probability[CLASS],…,prediction" (softmax; with
// Decision::of "row,probability,prediction", and "other" where it is not said).
// Of a model that is not private, one more column, not_private, says why in every line.
// before: rows that were predicted already; the header stands before the first one.
std::string prediction_csv(const Model& model, const data::Rows& rows, std::size_t before = 0,
                           const Decision& decision = {});

}  // namespace parley::run
