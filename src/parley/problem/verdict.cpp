// Is a model better than guessing? Exact tests at level 1 %, on held-out rows that the model has not seen; rows are
// taken as independent draws.
//
// Error. Guessing always says class c. Of the rows that exactly one of the two gets right, the model has `wins`. If it
// is no better, wins | wins + losses is at most Bin(wins + losses, ½), so P(Bin ≥ wins) is a p-value (the exact form of
// McNemar's test). Which c is best is not known: the largest p over all c tests "better than every one of them" at the
// same level.
//
// AUC. If scores say nothing of labels, every order of the labels is as likely. With R random orders,
//   p = (1 + #{r : AUC_r ≥ AUC}) / (1 + R)
// has P(p ≤ level) ≤ level for any number of rows and any ties (Phipson, Smyth 2010): exact, no limit theorem. The
// orders come from a fixed public seed, so the verdict on a file is always the same.
//
// A number. The same two with |residual| beside that of the rows' mean (the mean is of these rows, not a constant given
// before; with few rows that makes the sign test slightly strict), and the correlation in place of the AUC.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>

#include "parley/base/public_random.h"
#include "parley/problem/quality.h"

namespace parley::problem {
namespace {

constexpr std::uint64_t public_seed = 15;
constexpr double relative = 1e-12;  // sums in another order may differ by this: a tie, not a smaller value

// p-value of `of` the true labels among that of random orders of them. About 2·10⁸ steps at most.
template <class Label>
double permutation_test(std::vector<Label> labels, const std::function<double(const std::vector<Label>&)>& of) {
  const auto orders = std::clamp<std::size_t>(200'000'000 / labels.size(), 199, 999);
  const double seen = of(labels), nearly = seen - relative * std::max(1.0, std::abs(seen));
  PublicRandom random(public_seed, PublicRandom::Purpose::split);
  std::size_t at_least = 0;
  for (std::size_t r = 0; r < orders; ++r) {
    for (std::size_t i = labels.size(); i > 1; --i) std::swap(labels[i - 1], labels[random.below(i)]);
    at_least += of(labels) >= nearly ? 1 : 0;
  }
  return static_cast<double>(1 + at_least) / static_cast<double>(1 + orders);
}

double p_of_auc(const Scored& s, const std::vector<std::size_t>& truth) {
  const auto outputs = static_cast<std::size_t>(s.loss.scores());
  std::vector<std::vector<double>> ranks(outputs);
  std::vector<double> weight(outputs, 0);  // of a class: 1/(m (N − m)); 0 where it says nothing
  for (std::size_t c = 0; c < outputs; ++c) {
    ranks[c] = mid_ranks(order_scores(s, c));
    const auto m = static_cast<double>(std::ranges::count(truth, outputs == 1 ? 1 : c));
    const double rest = static_cast<double>(s.count()) - m;
    if (m > 0 && rest > 0) weight[c] = 1 / (m * rest);
  }
  return permutation_test<std::size_t>(truth, [&](const std::vector<std::size_t>& labels) {
    double sum = 0;  // of the AUCs, but for a constant
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (outputs > 1)
        sum += ranks[labels[i]][i] * weight[labels[i]];
      else if (labels[i] == 1)
        sum += ranks[0][i] * weight[0];
    }
    return sum;
  });
}

}  // namespace

std::vector<double> order_scores(const Scored& s, std::size_t output) {
  const auto outputs = static_cast<std::size_t>(s.loss.scores());
  std::vector<double> ordered(s.count());
  for (std::size_t i = 0; i < s.count(); ++i) {
    const std::span<const double> row(&s.score[i * outputs], outputs);
    ordered[i] = row[output];
    if (outputs == 1) continue;
    const double most = *std::ranges::max_element(row);
    double sum = 0;
    for (const double score : row) sum += std::exp(score - most);
    ordered[i] -= most + std::log(sum);
  }
  return ordered;
}

std::vector<double> mid_ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first;
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    for (std::size_t i = first; i < end; ++i) ranks[order[i]] = static_cast<double>(first + 1 + end) / 2;
    first = end;
  }
  return ranks;
}

std::optional<double> auc_of(const std::vector<double>& ranks, const std::vector<bool>& positive) {
  const auto m = static_cast<double>(std::ranges::count(positive, true));
  const double rest = static_cast<double>(positive.size()) - m;
  if (m == 0 || rest == 0) return std::nullopt;
  double sum = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (positive[i]) sum += ranks[i];
  return (sum - m * (m + 1) / 2) / (m * rest);
}

double sign_test(std::size_t wins, std::size_t losses) {
  if (wins == 0) return 1;
  const auto n = static_cast<double>(wins + losses);
  double tail = 0;
  for (std::size_t k = wins + losses + 1; k-- > wins;) {  // the smallest terms first
    const auto x = static_cast<double>(k);
    tail += std::exp(std::lgamma(n + 1) - std::lgamma(x + 1) - std::lgamma(n - x + 1) - n * std::log(2.0));
  }
  return std::min(1.0, tail);
}

Verdict verdict_on_classes(const Scored& rows, const std::vector<std::size_t>& said,
                           const std::vector<std::size_t>& truth, std::size_t classes) {
  Verdict v{.p_error = 0};
  for (std::size_t c = 0; c < classes; ++c) {
    std::size_t wins = 0, losses = 0;
    for (std::size_t i = 0; i < truth.size(); ++i) {
      const bool model = said[i] == truth[i], guess = truth[i] == c;
      wins += model && !guess ? 1 : 0;
      losses += guess && !model ? 1 : 0;
    }
    v.p_error = std::max(v.p_error, sign_test(wins, losses));
  }
  if (std::ranges::all_of(truth, [&](std::size_t t) { return t == truth.front(); })) {
    v.text =
        "no better than always guessing the larger class: all rows are of one class, so guessing it is never wrong";
    return v;
  }
  v.p_order = p_of_auc(rows, truth);
  const bool error = v.p_error <= Verdict::level, order = *v.p_order <= Verdict::level;
  v.no_better = !error || !order;
  v.text = !v.no_better ? "better than always guessing the larger class (error and AUC, exact tests at 1 % if rows are "
                          "independent)"
           : order ? "no better than always guessing the larger class: the error is not clearly below it. The order of "
                     "the scores does say something (AUC clearly above 0.5, exact test at 1 % if rows are independent)"
           : error ? "no better than always guessing the larger class: the AUC is not clearly above 0.5 (exact test "
                     "at 1 % if rows are independent)"
                   : "no better than always guessing the larger class: the error is not clearly below it, the AUC not "
                     "clearly above 0.5 (exact tests at 1 % if rows are independent)";
  return v;
}

Verdict verdict_on_numbers(const Scored& rows, double r_squared) {
  const double mean =
      std::accumulate(rows.label.begin(), rows.label.end(), 0.0) / static_cast<double>(rows.label.size());
  std::size_t wins = 0, losses = 0;
  for (std::size_t i = 0; i < rows.count(); ++i) {
    const double model = std::abs(rows.score[i] - rows.label[i]), guess = std::abs(mean - rows.label[i]);
    wins += model < guess ? 1 : 0;
    losses += model > guess ? 1 : 0;
  }
  Verdict v{.p_error = sign_test(wins, losses)};
  v.p_order = permutation_test<double>(rows.label, [&](const std::vector<double>& labels) {
    double sum = 0;  // of the correlation, but for constants
    for (std::size_t i = 0; i < labels.size(); ++i) sum += labels[i] * rows.score[i];
    return sum;
  });
  v.no_better = v.p_error > Verdict::level || *v.p_order > Verdict::level || r_squared <= 0;
  v.text =
      v.no_better
          ? "no better than always guessing the mean: the error is not clearly below it, or the predictions "
            "do not clearly follow the targets (exact tests at 1 % if rows are independent)"
          : "better than always guessing the mean (error and correlation, exact tests at 1 % if rows are independent)";
  return v;
}

}  // namespace parley::problem
