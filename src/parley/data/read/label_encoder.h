#pragma once
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "parley/data/arrays/number_scale.h"
#include "parley/data/read/cell.h"
#include "parley/data/read/missing_marks.h"

namespace parley::data {

// The label column of a schema, with what every cell would otherwise look up again.
class LabelEncoder {
 public:
  LabelEncoder(const Schema& schema, std::size_t cell)
      : label_(schema.label),
        cell_(cell),
        what_("label column '" + schema.label.column + "'"),
        missing_(schema),
        fold_(schema.fold) {
    for (const auto& text : label_.positive) value_.add(folded(text, fold_), 1);
    for (const auto& text : label_.negative) value_.add(folded(text, fold_), 0);
    for (std::size_t c = 0; c < label_.classes.size(); ++c)
      value_.add(folded(label_.classes[c], fold_), static_cast<std::int32_t>(c));
  }

  double encode(std::span<const Cell> row, const Place& where) const {
    const Cell cell = row[cell_];
    std::string text;
    const Cell read = fold_ == Fold::none ? cell : (text = folded(cell, fold_));
    if (label_.bounds) return encode_target(read, where);
    const std::int32_t found = value_.find(read);
    if (!label_.classes.empty() && found != TextIndex::absent) return found;
    if (found != TextIndex::absent) return 2 * found - 1;
    if (!label_.classes.empty())
      throw Error({.what = what_ + " has a value that is not among its classes",
                   .value = quoted(cell),
                   .allowed = abbreviated(label_.classes),
                   .where = where.text(),
                   .fix = meant(cell, label_.classes,
                                "correct the cell, or all parties add the value to 'classes' under [label]")});
    std::vector<std::string> known = label_.positive;
    known.insert(known.end(), label_.negative.begin(), label_.negative.end());
    throw Error({.what = "label is not binary: " + what_ + " has a value that is neither positive nor negative",
                 .value = quoted(cell),
                 .allowed = "+1: " + abbreviated(label_.positive) + "; -1: " + abbreviated(label_.negative),
                 .where = where.text(),
                 .fix = meant(cell, known, "correct the cell, or all parties list the value under [label]")});
  }

 private:
  double encode_target(Cell cell, const Place& where) const {
    const Bounds b = label_.bounds.value_or(Bounds{});
    if (missing_.is(cell))
      throw Error({.what = what_ + " is missing",
                   .value = quoted(cell),
                   .where = where.text(),
                   .fix = "remove the row or fill the cell"});
    return scaled_target(in_range(number_of(cell, what_, where), b, label_.out_of_range, what_, where), b);
  }

  const Label& label_;
  std::size_t cell_;
  std::string what_;
  MissingMarks missing_;
  Fold fold_;
  TextIndex value_;  // 0: negative, 1: positive; or the class
};

}  // namespace parley::data
