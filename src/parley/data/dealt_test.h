#pragma once
#include <vector>

#include "parley/data/split.h"

namespace parley::data {

inline std::vector<Rows> split_over_nodes(const Dataset& all, int nodes, const SplitPlan& plan, std::uint64_t seed) {
  std::vector<Rows> result;
  for (const auto& rows : deal(all, nodes, plan, seed)) result.push_back(all.rows.select(rows));
  return result;
}

}  // namespace parley::data
