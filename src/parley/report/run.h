// What a report shows of one run, and for whom. Privacy: what the audience may not see (the marks of record/schema.h)
// is never read into a Run, so no page, chart or CSV can show it. Absent numbers are NaN.
#pragma once
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parley/record/adjacency.h"
#include "parley/record/round.h"
#include "parley/record/schema.h"
#include "parley/report/decision/odds.h"

namespace parley::report {

using record::Audience;

inline constexpr double absent = std::numeric_limits<double>::quiet_NaN();

struct Node {
  std::string name;  // of a party; a simulation's nodes have numbers
  bool trainer = false;
  double records = absent, degree = absent, epsilon = absent;
  double noise = absent;     // in the first private round: standard deviation of Gaussian noise, rate of gamma noise
  double distance = absent;  // of its value from the model's, at the end (average of the later half where the model is)
  int last_round = -1;       // after which the others went on without it; −1: it took part to the end
};

struct Round {
  int round = 0;              // of the whole run
  int part = 1, in_part = 0;  // its number in the part that it belongs to
  std::optional<record::RoundKind> kind;
  double epsilon = absent;
  double disagreement = absent;                     // the largest distance from the model
  double movement = absent;                         // ‖centre(t) − centre(t−1)‖ of the released values
  double train_loss = absent, test_error = absent;  // owner only
};

struct Guarantee {
  bool holds = false;  // fails closed: a record that does not say so has none
  std::string stamp;   // why not: "NOT PRIVATE: …"
  // Where noise cancels between parties, both are those against all others together, which need no trust.
  double epsilon = absent, epsilon_planned = absent, epsilon_paper = absent, delta = absent;
  double epsilon_colluders = absent;  // against fewer; absent: the same
  std::string colluders;              // "any 25 of the 100 parties together, and whoever sees every message"
  std::string theorem, bound;
  TradeOff trade_off = TradeOff::any;  // what the record does not say is bounded by ε and δ alone
  std::string not_covered;             // "500 rows …": rows that were declared public
  record::Adjacency adjacency{};
  long rows_per_person = 0;  // whom epsilon is for; 0: one record
  bool verified_only() const { return bound != "proved"; }
  bool as_dealt() const { return adjacency == record::Adjacency::as_dealt; }
};

// What the plan let expect, as the record says it: functions of public numbers.
struct Expected {
  std::string chosen;           // why the planner chose the algorithm; "" where it was given
  std::string noise;            // "noise to signal 0.012 …"; "" without noise
  std::string forecast, limit;  // in words; "" where no forecast is known
  std::string points;           // the forecast in short: "1.2 (0.7 to 1.9)"
  struct Lever {
    std::string what, points;    // what would help, and the points with it
    double all_others = absent;  // ε against all other parties together, where it would be another
  };
  std::vector<Lever> levers;
};

// Of a node's private rounds, without the budget that was asked for. Where pairs share noise: a party's own.
struct NoiseOfNode {
  std::vector<std::pair<double, double>> rounds;                                // how many, with which noise
  double moments = absent, hessian = absent, spread = absent, square = absent;  // of sums over rows
  double in_all() const;                                                        // rounds
};
struct NoiseUsed {
  std::vector<NoiseOfNode> nodes;  // one for all, or one for each; empty: the record does not say
  double pair_over_own = absent;   // what each pair shares, over a party's own noise
};

// Of the table of coefficients (train --intervals), in the columns' own units; absent where not identified. Owner only: it
// names columns.
struct CoefficientRow {
  std::string name;
  double estimate = absent, standard_error = absent, sampling = absent, low = absent, high = absent, p_value = absent;
};

struct CalibrationBin {  // of rows whose predicted probability lies near `predicted`
  double rows = 0, predicted = absent, observed = absent;
};

struct Roc {  // shares of the negative and of the positive rows that a threshold says are positive
  std::vector<double> false_alarms, found;
};

struct Metrics {  // of the end; owner only. Errors of a number are in its column's own unit
  double test_error = absent, test_error_pooled = absent, train_loss = absent, train_loss_pooled = absent;
  double balanced_error = absent, balanced_error_guessing = absent;  // of classes
  double test_error_guessing = absent;                               // of always saying the larger class, or the mean
  double auc = absent, r_squared = absent;       // of the model, and what it is worth against guessing
  std::optional<bool> no_better;                 // by the exact tests of the run itself
  std::string verdict{};                         // the same in words
  std::vector<CalibrationBin> calibration{};     // bins that have rows
  Roc roc{};                                     // of two classes
  double own_loss = absent, own_error = absent;  // of a party's model, on its own rows (join --local-metrics)
  bool own_held_out = false;                     // which it has not seen
};

// One stretch of a run that went on after a loss. Its first round is the last that the part before it kept.
struct RunPart {
  std::vector<std::string> parties, lost;  // lost: before it began
  int first = 0;                           // round of the whole run from which it goes on
  int last = 0;                            // in which it ended
};

struct Statement {  // of a party, signed; made to be shown
  std::string party, words;
  std::vector<std::string> assumptions;
};

struct VoidClaims {                                     // R14: no ε holds for these, and none is shown of their run
  std::vector<std::string> past_unknown, contradicted;  // parties
  bool somebody = false;                                // and the record does not say who
  bool anybody = false;                                 // the same, and it is proved: it may be each of them
  // By the transcripts of several parties, whose signatures a report does not check.
  std::vector<std::string> differing;     // parties of which they hold two histories
  std::vector<std::string> not_compared;  // transcripts, and why
  bool any() const {
    return somebody || anybody || !past_unknown.empty() || !contradicted.empty() || !differing.empty() ||
           !not_compared.empty();
  }
  bool has(const std::string& party) const;
  std::string in_words() const;  // "no ε holds for …: …"
};

struct Approved {  // of a study before its run, by a signature that was checked
  std::string party, date, words;
};

struct Run {
  bool party = false;    // the record of `join`; otherwise a simulation's
  bool star = false;     // the last node is the trainer
  bool sums = false;     // sums over rows are exchanged: all hold one point, and one more round is the model
  std::string place;     // its folder; owner only
  std::string identity;  // equal for runs of the same options up to seed and place; compared, never shown
  std::string outcome;
  std::vector<std::string> faults;             // what is missing or broken
  std::vector<std::string> warnings;           // of the plan
  std::map<std::string, std::string> options;  // those that the audience may see
  std::map<std::string, std::string> exact;    // the same, numbers with all their digits
  int options_hidden = 0;
  std::string data, title, study_hash;
  double features = absent;
  int rounds_done = 0;
  Guarantee guarantee;
  Expected expected;
  NoiseUsed noise;
  std::vector<CoefficientRow> coefficients;
  std::vector<Node> nodes;
  std::vector<std::pair<int, int>> edges;
  std::vector<Round> rounds;
  std::vector<RunPart> parts;  // of a run that went on; otherwise none
  Metrics metrics;
  std::vector<Statement> statements;
  VoidClaims void_claims;
  std::vector<Approved> approvals;  // of a planned run
  int approvals_refused = 0;

  // What a choice is judged by: with class weights the balanced error, where it is known (docs/use/quality.md).
  bool judged_by_balanced_error() const {
    const std::string weights = option("class-weight");
    return !weights.empty() && weights != "none" && std::isfinite(metrics.balanced_error);
  }
  double judged_error() const { return judged_by_balanced_error() ? metrics.balanced_error : metrics.test_error; }
  double judged_guessing() const {
    return judged_by_balanced_error() ? metrics.balanced_error_guessing : metrics.test_error_guessing;
  }

  bool completed() const { return outcome == "completed"; }
  bool planned() const { return outcome == "planned"; }  // a study that has not begun
  // What covers a run: the planned loss when it ended early (docs/approve/guarantee.md, the terms).
  double covered_epsilon() const;
  bool with_intervals() const;
  long planned_rounds() const;                        // of messages; 0: the record does not say
  std::string option(const std::string& name) const;  // "" when absent
};

}  // namespace parley::report
