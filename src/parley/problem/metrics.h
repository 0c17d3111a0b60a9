// What simulations report. All of it is computed on private rows: it never leaves a node unpaid (docs/approve/limits.md,
// rule R10).
#pragma once
#include <vector>

#include "parley/problem/objective.h"

namespace parley::problem {

// The column's own unit: a target y in [−1, 1] is low + (y + 1)/2 (high − low).
struct Unit {
  double low = -1, high = 1;
  double half_width() const { return (high - low) / 2; }
};

// Of what is minimised: with class weights. Everything else here counts rows.
double mean_loss(const data::Rows& rows, const Loss& loss, const Vector& f);

// Classification: share of rows whose score has the wrong sign (a score of 0 counts as −1); softmax: whose largest
// score is not the label's (a tie goes to the smaller class number). Regression: root mean squared residual, in the
// column's own unit.
double test_error(const data::Rows& rows, const Loss& loss, const Vector& f, const Unit& unit = {});
// The same from parts: errors (or squared residuals of the targets in [−1, 1]) of each part's rows, added up.
double test_errors(const data::Rows& rows, const Loss& loss, const Vector& f);
double test_error_of(double errors, double rows, const Loss& loss, const Unit& unit = {});

// Classification: how many rows each class has. Of two classes −1 is the first.
std::vector<double> class_counts(const data::Rows& rows, const Loss& loss);

}  // namespace parley::problem
