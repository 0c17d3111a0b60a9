#include "parley/problem/quality.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "parley/base/error.h"
#include "parley/problem/kernels.h"
#include "parley/problem/softmax.h"

namespace parley::problem {
namespace {

constexpr std::size_t bins = 10;

double logistic(double score) {
  return 1 / (1 + std::exp(-score));
}

// −ln p of the label, without cancellation.
double surprise(double score, bool positive) {
  const double z = positive ? score : -score;
  return z > 0 ? std::log1p(std::exp(-z)) : -z + std::log1p(std::exp(z));
}

class Calibration {
 public:
  Calibration() {
    for (std::size_t k = 0; k < bins; ++k)
      all_.push_back({.low = static_cast<double>(k) / bins, .high = static_cast<double>(k + 1) / bins});
  }
  void add(double p, bool happened) {
    Bin& bin = all_[std::min(bins - 1, static_cast<std::size_t>(p * bins))];
    ++bin.rows;
    bin.predicted += p;
    bin.observed += happened ? 1 : 0;
  }
  std::vector<Bin> means() {
    for (Bin& bin : all_)
      if (bin.rows > 0) bin.predicted /= static_cast<double>(bin.rows), bin.observed /= static_cast<double>(bin.rows);
    return all_;
  }

 private:
  std::vector<Bin> all_;
};

void add_probabilities(Quality& q, const Scored& s, const std::vector<std::size_t>& said,
                       const std::vector<std::size_t>& truth) {
  const auto n = static_cast<double>(s.count());
  double log_loss = 0, brier = 0;
  Calibration calibration;
  if (s.loss.kind == LossKind::softmax) {
    std::vector<double> p(static_cast<std::size_t>(s.loss.classes));
    for (std::size_t i = 0; i < s.count(); ++i) {
      std::copy_n(s.score.begin() + static_cast<std::ptrdiff_t>(i * p.size()), p.size(), p.begin());
      log_loss += softmax(p, truth[i]) / n;
      for (std::size_t c = 0; c < p.size(); ++c) {
        const double off = p[c] - (c == truth[i] ? 1 : 0);
        brier += off * off / n;
      }
      calibration.add(p[said[i]], said[i] == truth[i]);
    }
  } else {
    for (std::size_t i = 0; i < s.count(); ++i) {
      const bool positive = truth[i] == 1;
      const double p = logistic(s.score[i]), off = p - (positive ? 1 : 0);
      log_loss += surprise(s.score[i], positive) / n;
      brier += off * off / n;
      calibration.add(p, positive);
    }
  }
  q.log_loss = log_loss, q.brier = brier, q.calibration = calibration.means();
}

// Means over the classes that occur; two classes: F1 of the positive one.
void add_class_figures(Quality& q) {
  const std::size_t classes = q.confusion.size();
  double found = 0, f1 = 0, occurring = 0;
  for (std::size_t c = 0; c < classes; ++c) {
    const auto& row = q.confusion[c];
    const auto of_class = static_cast<double>(std::accumulate(row.begin(), row.end(), std::size_t{0}));
    double said = 0;
    for (const auto& other : q.confusion) said += static_cast<double>(other[c]);
    const auto right = static_cast<double>(row[c]);
    q.baseline_error = std::min(q.baseline_error, 1 - of_class / static_cast<double>(q.rows));
    if (of_class == 0) continue;
    ++occurring;
    found += right / of_class;
    if (classes > 2 || c == 1) f1 += 2 * right / (of_class + said);
  }
  q.balanced_error = 1 - found / occurring;
  q.baseline_balanced_error = 1 - 1 / occurring;
  q.f1 = classes > 2 ? f1 / occurring : f1;
}

Quality of_classes(const Scored& s, const Measure& how) {
  Quality q{.rows = s.count(), .baseline_error = 1};
  const auto classes = s.loss.kind == LossKind::softmax ? static_cast<std::size_t>(s.loss.classes) : 2;
  const std::vector<std::size_t> said = said_classes(s, how.threshold), truth = true_classes(s);
  q.confusion.assign(classes, std::vector<std::size_t>(classes));
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < s.count(); ++i) {
    ++q.confusion[truth[i]][said[i]];
    wrong += said[i] != truth[i] ? 1 : 0;
  }
  q.error = static_cast<double>(wrong) / static_cast<double>(s.count());
  add_class_figures(q);
  double sum = 0, count = 0;
  const auto outputs = static_cast<std::size_t>(s.loss.scores());
  for (std::size_t c = 0; c < outputs; ++c) {
    const std::vector<double> one = order_scores(s, c);
    std::vector<bool> positive(s.count());
    for (std::size_t i = 0; i < s.count(); ++i) positive[i] = truth[i] == (outputs == 1 ? 1 : c);
    const auto auc = auc_of(mid_ranks(one), positive);
    if (auc) sum += *auc, ++count;
    if (auc && outputs == 1) q.roc = roc(one, positive);
  }
  if (count > 0) q.auc = sum / count;
  if (s.loss.kind == LossKind::logistic || s.loss.kind == LossKind::softmax) add_probabilities(q, s, said, truth);
  q.verdict = verdict_on_classes(s, said, truth, classes);
  return q;
}

Quality of_numbers(const Scored& s, const Unit& unit) {
  Quality q{.rows = s.count()};
  const auto n = static_cast<double>(s.count());
  const double half = unit.half_width(), mean = std::accumulate(s.label.begin(), s.label.end(), 0.0) / n;
  double squares = 0, absolute = 0, around_mean = 0;
  for (std::size_t i = 0; i < s.count(); ++i) {
    const double off = s.score[i] - s.label[i];
    squares += off * off;
    absolute += std::abs(off);
    around_mean += (s.label[i] - mean) * (s.label[i] - mean);
  }
  q.error = half * std::sqrt(squares / n);
  q.baseline_error = half * std::sqrt(around_mean / n);
  q.mae = half * absolute / n;
  if (around_mean > 0) q.r_squared = 1 - squares / around_mean;
  q.verdict = verdict_on_numbers(s, q.r_squared.value_or(0));
  return q;
}

}  // namespace

Scored scored(const data::Rows& rows, const Loss& loss, const Vector& f) {
  const auto outputs = static_cast<std::size_t>(loss.scores());
  Scored s{.loss = loss, .label = rows.label, .score = std::vector<double>(rows.count() * outputs)};
  if (outputs == 1) {
    kernel::scores(rows, 0, rows.count(), f.data(), s.score.data());
    return s;
  }
  for (std::size_t n = 0; n < rows.count(); ++n)
    for (std::size_t c = 0; c < outputs; ++c)
      s.score[n * outputs + c] = score(rows, n, f.data() + static_cast<Index>(c) * rows.features);
  return s;
}

std::vector<std::size_t> said_classes(const Scored& s, double threshold) {
  std::vector<std::size_t> said(s.count());
  const auto outputs = static_cast<std::size_t>(s.loss.scores());
  for (std::size_t i = 0; i < s.count(); ++i) {
    const auto first = s.score.begin() + static_cast<std::ptrdiff_t>(i * outputs);
    said[i] =
        outputs == 1
            ? (*first > threshold ? 1 : 0)
            : static_cast<std::size_t>(std::max_element(first, first + static_cast<std::ptrdiff_t>(outputs)) - first);
  }
  return said;
}

std::vector<std::size_t> true_classes(const Scored& s) {
  std::vector<std::size_t> truth(s.count());
  for (std::size_t i = 0; i < s.count(); ++i)
    truth[i] = s.loss.kind == LossKind::softmax ? static_cast<std::size_t>(s.label[i]) : s.label[i] > 0 ? 1 : 0;
  return truth;
}

Quality quality(const Scored& rows, const Measure& how) {
  expects(rows.count() > 0, "rows to measure on");
  expects(rows.score.size() == rows.count() * static_cast<std::size_t>(rows.loss.scores()), "scores of every row");
  Quality q = rows.loss.classifies() ? of_classes(rows, how) : of_numbers(rows, how.unit);
  if (how.several_rows)
    q.verdict.text +=
        "; a person may have several rows here, which are not independent, so the tests say \"better\" too easily";
  return q;
}

std::vector<RocPoint> roc(const std::vector<double>& scores, const std::vector<bool>& positive, std::size_t most) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  const auto all_positive = static_cast<double>(std::ranges::count(positive, true));
  const double all_negative = static_cast<double>(scores.size()) - all_positive;
  std::vector<RocPoint> points{{}};
  if (all_positive == 0 || all_negative == 0) return {};
  double found = 0, alarms = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    (positive[order[i]] ? found : alarms) += 1;
    const bool tied = i + 1 < order.size() && scores[order[i + 1]] == scores[order[i]];
    const RocPoint here{.false_alarms = alarms / all_negative, .found = found / all_positive};
    const double moved = here.false_alarms - points.back().false_alarms + here.found - points.back().found;
    if (!tied && (moved * static_cast<double>(most) >= 2 || i + 1 == order.size())) points.push_back(here);
  }
  return points;
}

}  // namespace parley::problem
