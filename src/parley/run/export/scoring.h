// What a model does with a row, in the terms that leave parley: columns of the schema, and what each adds to the scores.
// A row's scores are Σ over columns of weight × feature, divided by max(1, |x|) or by the schema's divisor; what a column adds
// is a row of scores() weights and one more number, its share of |x|².
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "parley/data/schema.h"
#include "parley/run/model.h"

namespace parley::run {

inline constexpr int no_category = -1;  // a category that has no feature

struct ScoredColumn {
  data::Column column;
  Index first = 0;  // its first feature
};

struct Scoring {
  Model model;
  data::Schema schema;  // without columns: LIBSVM
  std::vector<ScoredColumn> columns{};
  std::vector<std::string> classes{};  // negative, positive; softmax: all; a number: none
  data::Bounds unit{};                 // of a predicted number
  std::string not_private{};

  Index features() const { return static_cast<Index>(model.feature_names.size()); }
  int scores() const { return model.loss.scores(); }
  double weight(int score, Index feature) const;
  double divisor() const;  // 0: each row by its own norm
  bool has_columns() const { return !columns.empty(); }
  bool probabilities() const;
  // What category (or bin) k of a column adds: its weights and its square. no_category, and a reference, add nothing.
  std::vector<double> row_of(const ScoredColumn& c, int k) const;
};

// Error where the schema does not fit the weights.
Scoring scoring_of(const Model& model);

// Which category a text is, and a number where the column's categories are codes.
struct CategoryTexts {
  std::vector<std::pair<std::string, int>> texts;  // folded, aliases too
  std::vector<std::pair<double, int>> codes;
  int of_missing = no_category;  // with missing = "category"
};
CategoryTexts category_texts(const data::Column& column, const data::Schema& schema);
std::vector<std::string> missing_marks(const data::Schema& schema);  // folded

// What becomes of a missing cell, and of an unlisted one. refused: parley would stop, so the row has no score.
struct Fallback {
  bool refused = false;
  int category = no_category;
  double number = 0;  // of a number: the value that it counts as
};
Fallback when_missing(const data::Column& column, const data::Schema& schema);
Fallback when_unlisted(const data::Column& column);

// The words above every export: which model, and NOT PRIVATE with its reasons.
std::vector<std::string> words_of(const Scoring& s);

}  // namespace parley::run
