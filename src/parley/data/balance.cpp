#include <algorithm>
#include <numeric>

#include "parley/base/error.h"
#include "parley/data/source.h"

namespace parley::data {
namespace {

// Fills block after block up to `limit`, leaving one weight for each block to come; empty when they do not fit.
std::vector<int> fill(const std::vector<double>& weights, int blocks, double limit) {
  const int count = static_cast<int>(weights.size());
  std::vector<int> starts = {0};
  int next = 0;
  for (int b = 0; b < blocks; ++b) {
    double load = 0;
    const int last = count - (blocks - b - 1), begin = next;
    while (next < last && (next == begin || load + weights[static_cast<std::size_t>(next)] <= limit))
      load += weights[static_cast<std::size_t>(next++)];
    if (load > limit) return {};
    starts.push_back(next);
  }
  return next == count ? starts : std::vector<int>();
}

}  // namespace

std::vector<int> balanced(const std::vector<double>& weights, int blocks) {
  if (static_cast<int>(weights.size()) < blocks)
    throw Error({.what = std::to_string(blocks) + " processes for " + std::to_string(weights.size()) + " nodes",
                 .allowed = "at least one node per process",
                 .where = "option --nodes",
                 .fix = "start fewer processes"});
  double low = *std::ranges::max_element(weights), high = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (int halving = 0; halving < 60 && low < high; ++halving) {
    const double middle = low + (high - low) / 2;
    (fill(weights, blocks, middle).empty() ? low : high) = middle;
  }
  const auto starts = fill(weights, blocks, high);
  expects(!starts.empty(), "blocks that hold everything");
  return starts;
}

}  // namespace parley::data
