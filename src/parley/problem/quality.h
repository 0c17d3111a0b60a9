// What a model is worth on held-out rows, always beside what it costs to guess. Privacy: all of it is measured on rows,
// so it stands where private things stand (docs/use/quality.md, rule R10) and is never in a shareable report.
//   balanced error   1 − mean over classes of the share of its rows that are found
//   AUC of class k   (Σ_{y_n = k} r_n − m(m+1)/2) / (m (N − m)),  r the ranks of its scores, ties share their mean rank
//   F1 of class k    2 TP / (2 TP + FP + FN)
//   log loss         −mean ln p_{y_n}(n);   Brier: mean (p − [y = 1])², of several classes mean ‖p − e_y‖²
// Of several classes AUC, F1 and the balanced error are macro figures: means over the classes that occur.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "parley/problem/metrics.h"
#include "parley/problem/objective.h"

namespace parley::problem {

// What a model says of each row, and what is true of it.
struct Scored {
  Loss loss;
  std::vector<double> label;
  std::vector<double> score;  // loss.scores() numbers a row
  std::size_t count() const { return label.size(); }
};
Scored scored(const data::Rows& rows, const Loss& loss, const Vector& f);

struct Measure {
  Unit unit{};
  bool several_rows = false;  // of one person: these are not independent, and the verdict says so
  double threshold = 0;       // two classes: a score above it says the positive one
};

// Of the rows whose probability of the class that is said (two classes: of the positive one) lies in [low, high).
struct Bin {
  double low = 0, high = 1;
  std::size_t rows = 0;
  double predicted = 0, observed = 0;  // means
};

// Of a threshold.
struct RocPoint {
  double false_alarms = 0, found = 0;  // shares of the negative and of the positive rows that are said to be positive
};

// Decided by exact tests at `level` (verdict.cpp): no_better unless both hold.
struct Verdict {
  static constexpr double level = 0.01;
  bool no_better = true;
  double p_error = 1;             // that an error so far below guessing's is chance
  std::optional<double> p_order;  // that scores which order the rows so well (AUC; of a number: correlation) are chance
  std::string text;               // one sentence
};

struct Quality {
  std::size_t rows = 0;
  double error = 0, baseline_error = 0;  // of classes: shares; of a number: root mean squares, in its own unit
  // Classes. A loss whose scores are no probabilities (hinge) has no log loss, Brier score and bins.
  std::optional<double> auc, balanced_error, f1, log_loss, brier;
  std::optional<double> baseline_balanced_error;  // of always saying one class that occurs: 1 − 1/(classes that occur)
  std::vector<Bin> calibration;
  std::vector<RocPoint> roc;                        // of two classes that both occur
  std::vector<std::vector<std::size_t>> confusion;  // [true class][said class]; of two classes −1 is the first
  // A number, in its own unit; the baseline is the mean of these rows.
  std::optional<double> mae, r_squared;
  Verdict verdict;
};

// Needs at least one row.
Quality quality(const Scored& rows, const Measure& how = {});

// ---- pieces that have tests of their own

// Ranks 1 … n of the values, ties share their mean rank.
std::vector<double> mid_ranks(const std::vector<double>& values);
// One of the classes against the rest; empty where all rows are of it, or none.
std::optional<double> auc_of(const std::vector<double>& ranks, const std::vector<bool>& positive);

// What orders rows by how much they speak for one class: the score, of several classes ln p_c = s_c − ln Σ_k e^{s_k}. The
// bare score of one of several classes orders nothing: the others of its row move with it.
std::vector<double> order_scores(const Scored& rows, std::size_t output);

// From (0, 0) to (1, 1), a point per distinct score; thinned to about so many.
std::vector<RocPoint> roc(const std::vector<double>& scores, const std::vector<bool>& positive, std::size_t most = 200);

// P(X ≥ wins) for X ~ Bin(wins + losses, ½): the exact sign test.
double sign_test(std::size_t wins, std::size_t losses);

// The classes of these rows that the scores say, as numbers 0, 1, …; of two classes −1 is the first.
std::vector<std::size_t> said_classes(const Scored& rows, double threshold);
std::vector<std::size_t> true_classes(const Scored& rows);

Verdict verdict_on_classes(const Scored& rows, const std::vector<std::size_t>& said,
                           const std::vector<std::size_t>& truth, std::size_t classes);
Verdict verdict_on_numbers(const Scored& rows, double r_squared);

}  // namespace parley::problem
