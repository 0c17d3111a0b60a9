#include "parley/experiment/measured.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "parley/base/error.h"

namespace parley::experiment {

Spread spread(const std::vector<double>& values) {
  if (values.empty() || std::ranges::any_of(values, [](double v) { return std::isnan(v); })) return {};
  return {.mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size()),
          .low = std::ranges::min(values),
          .high = std::ranges::max(values)};
}

long Measured::rounds() const {
  std::size_t most = 0;
  for (const auto& run : runs)
    for (const auto& [metric, curve] : run) most = std::max(most, curve.size());
  return static_cast<long>(most) - 1;
}

std::vector<double> Measured::values(Metric metric, const Choice<Moment>& at) const {
  std::vector<double> all;
  for (const auto& run : runs) {
    const auto found = run.find(metric);
    expects(found != run.end(), "a metric that was measured");
    const Curve& curve = found->second;
    if (curve.empty())
      all.push_back(nothing);
    else if (at == Moment::end)
      all.push_back(curve.back());
    else if (at == Moment::mean)
      all.push_back(curve.size() < 2
                        ? nothing
                        : std::accumulate(curve.begin() + 1, curve.end(), 0.0) / static_cast<double>(curve.size() - 1));
    else
      all.push_back(curve[std::min(curve.size() - 1, static_cast<std::size_t>(std::stoul(at.text)))]);
  }
  return all;
}

Spread Measured::at_round(Metric metric, std::size_t round) const {
  return spread(values(metric, std::to_string(round)));
}

std::string Measured::ended_early() const {
  const auto early = std::ranges::count_if(outcomes, [](const std::string& o) { return o != "completed"; });
  if (early == 0) return "";
  return std::to_string(early) + " of " + std::to_string(outcomes.size()) + " runs " +
         *std::ranges::find_if(outcomes, [](const std::string& o) { return o != "completed"; });
}

}  // namespace parley::experiment
