#include "parley/algorithm/newton/forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include "parley/algorithm/planner.h"
#include "parley/base/printed.h"
#include "parley/base/text.h"
#include "parley/privacy/gaussian.h"

namespace parley::algorithm::newton {
namespace {

constexpr double guessing_from = 0.3;  // ν

// Of noise that is shared for so many colluders: everybody else together leaves a party its own, s (privacy/shared_noise.h).
double epsilon_all_others(const Known& k) {
  const Options shared{.algorithm = "newton", .colluders = k.colluders};
  const double own = sharing_of(shared, k.parties()).own_of(1);
  double most = 0;  // of any party
  for (const double epsilon : k.epsilon)
    if (std::isfinite(epsilon)) most = std::max(most, epsilon);
  return privacy::gdp_epsilon(privacy::gdp_mu(most, k.delta) / own, k.delta);
}

}  // namespace

double noise_to_signal(const Known& k) {
  double square = 0;
  for (const double epsilon : k.epsilon) {
    if (std::isinf(epsilon)) continue;
    const double mu = privacy::gdp_mu(epsilon, k.delta) / static_cast<double>(k.rows_per_person);
    square += 1 / (mu * mu);
  }
  return std::sqrt(square / (k.parties() - k.colluders)) * k.weights / k.records;
}

Forecast forecast(double nu) {
  // Means over 4 splits and 3 runs of census: 8,000 and 40,000 rows, 2 to 100 parties, epsilon 0.1 to 2.
  constexpr std::array<std::pair<double, double>, 14> table = {{{0, 0},
                                                                {0.005, 0.15},
                                                                {0.01, 0.35},
                                                                {0.015, 0.55},
                                                                {0.03, 1.15},
                                                                {0.05, 1.9},
                                                                {0.075, 2.5},
                                                                {0.12, 3.9},
                                                                {0.17, 4.6},
                                                                {0.24, 6.5},
                                                                {0.32, 7.4},
                                                                {0.5, 9.2},
                                                                {0.6, 9.7},
                                                                {1.2, 11.2}}};
  double points = table.back().second;
  if (nu < table.back().first) {
    const auto above = std::ranges::upper_bound(table, nu, {}, &std::pair<double, double>::first);
    const auto [x0, y0] = *std::prev(above);
    const auto [x1, y1] = *above;
    points = y0 + (nu - x0) / (x1 - x0) * (y1 - y0);
  }
  return {.points = points,
          .low = std::max(0.0, 0.65 * points - 0.1),
          .high = 1.3 * points + 0.3,
          .guessing = nu >= guessing_from};
}

Forecast forecast(const Known& k) {
  Forecast f = forecast(noise_to_signal(k));
  f.ranged = k.rows_per_person == 1;
  return f;
}

double guessing_below(const Known& k) {
  const double n = noise_to_signal(k) * k.records / guessing_from;
  if (n == 0) return 0;
  const double unit = std::pow(10, std::floor(std::log10(n)) - 1);
  return std::round(n / unit) * unit;
}

std::vector<Lever> levers(const Known& k) {
  std::vector<std::pair<double, Lever>> all;  // by ν
  const auto add = [&](const std::string& what, const Known& then, double epsilon_all_others = 0) {
    const double nu = noise_to_signal(then);
    all.emplace_back(nu, Lever{what, forecast(then), epsilon_all_others});
  };
  Known features = k, records = k, pooled = k, budget = k;
  features.weights /= 2;
  records.records *= 2;
  pooled.colluders = std::max((k.parties() - 1) / 2, k.fewest_colluders);
  for (double& epsilon : budget.epsilon) epsilon *= 2;
  add("half the features", features);
  add("twice the records", records);
  if (pooled.colluders < k.colluders)
    add(fmt::format("at most {} of the other {} parties pool what they know", pooled.colluders, k.parties() - 1),
        pooled, epsilon_all_others(pooled));
  add("twice the epsilon", budget);
  std::ranges::stable_sort(all, {}, &std::pair<double, Lever>::first);
  std::vector<Lever> sorted;
  for (auto& [nu, lever] : all) sorted.push_back(std::move(lever));
  return sorted;
}

std::string in_words(const Forecast& f) {
  if (f.guessing) return "no better than always guessing the larger class (on synthetic tasks; not a promise)";
  if (!f.ranged)
    return fmt::format(
        "about {:.1f} points of test error more than without privacy, on a synthetic task where guessing costs 10 "
        "points, features fill their bounds and everybody has one row; for several rows of a person no range is known "
        "(not a promise)",
        f.points);
  return fmt::format(
      "about {:.1f} points of test error more than without privacy ({:.1f} to {:.1f} on a synthetic task where "
      "guessing costs 10 points and features fill their bounds; not a promise)",
      f.points, f.low, f.high);
}

std::string guessing_in_words(const Known& k) {
  return fmt::format(
      "no better than guessing below about {} records in all, where the smaller class is a quarter of them",
      grouped(std::lround(guessing_below(k))));
}

std::string levers_in_words(const Known& k) {
  std::vector<std::string> parts;
  for (const Lever& lever : levers(k))
    parts.push_back(
        lever.what + ": " + (lever.then.guessing ? "still guessing" : fmt::format("{:.2g} points", lever.then.points)) +
        (lever.epsilon_all_others > 0
             ? ", and then ε = " + printed_epsilon(lever.epsilon_all_others) + " against all others together"
             : ""));
  return join(parts, "; ");
}

}  // namespace parley::algorithm::newton
