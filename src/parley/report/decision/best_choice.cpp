#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "parley/base/printed.h"
#include "parley/report/decision/decision.h"
#include "parley/report/words.h"

namespace parley::report {
namespace {

struct Errors {
  const Group* group;
  double mean = 0, squared_error = 0;  // of the mean: s²/n
  int count = 0;
};

Errors errors_of(const Group& g) {
  std::vector<double> values;
  for (const Run& run : g.runs)
    if (std::isfinite(run.judged_error())) values.push_back(run.judged_error());
  Errors e{.group = &g, .count = static_cast<int>(values.size())};
  const double n = e.count;
  for (const double v : values) e.mean += v / n;
  for (const double v : values) e.squared_error += (v - e.mean) * (v - e.mean) / std::max(1.0, n - 1) / n;
  return e;
}

// Student's 97.5 % quantile for n − 1 degrees of freedom, of the setting with fewer runs (Welch's test, on the safe side).
double quantile(int runs) {
  static constexpr std::array<double, 10> t = {12.71, 4.31, 3.19, 2.78, 2.58, 2.45, 2.37, 2.31, 2.27, 2.23};
  return t[static_cast<std::size_t>(std::clamp(runs - 2, 0, 9))];
}

bool clearly_apart(const Errors& a, const Errors& b) {
  const int least = std::min(a.count, b.count);
  return least >= 2 && std::abs(a.mean - b.mean) > quantile(least) * std::sqrt(a.squared_error + b.squared_error);
}

}  // namespace

std::vector<std::string> best_choices(const std::vector<Group>& groups) {
  std::map<double, std::vector<Errors>> at;  // ε as printed
  for (const Group& g : groups)
    if (const Errors e = errors_of(g); e.count > 0 && std::isfinite(g.first().covered_epsilon()))
      at[printed_epsilon_value(g.first().covered_epsilon())].push_back(e);
  std::vector<std::string> lines;
  for (auto& [epsilon, all] : at) {
    if (all.size() < 2) continue;
    std::ranges::sort(all, {}, &Errors::mean);
    const Errors &best = all[0], &next = all[1];
    const auto told = [](const Errors& e) {
      return (e.group->algorithm.empty() ? e.group->name : e.group->algorithm) + " (" +
             error_text(e.group->first(), e.mean) + (e.count == 1 ? ", one run)" : ")");
    };
    const Run& first = best.group->first();
    std::string line =
        "At ε = " + printed_epsilon(epsilon) + (first.judged_by_balanced_error() ? ", by the balanced error: " : ": ");
    if (clearly_apart(best, next)) {
      line += told(best) + " is best; next is " + told(next) + ".";
    } else if (best.count < 2 || next.count < 2) {
      line += told(best) + " has the lowest error, " + told(next) +
              " the next. The scatter of one run is not known: repeat the runs (--repeat 5).";
    } else {
      std::string names = told(best);
      for (std::size_t i = 1; i < all.size() && !clearly_apart(best, all[i]); ++i) names += ", " + told(all[i]);
      line += "no choice is clearly best. The differences are within run-to-run scatter: " + names + ".";
    }
    const double guessing = first.judged_guessing();
    if (std::isfinite(guessing) && best.mean >= guessing)
      line += " None is better than always guessing (" + error_text(first, guessing) + ").";
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace parley::report
