#include "rows.h"

#include <cmath>
#include <cstdio>
#include <numeric>

#include "parley/base/error.h"
#include "parley/base/public_random.h"
#include "parley/data/encode.h"
#include "parley/data/named/adult.h"
#include "parley/data/named/census.h"

namespace parley::bench {

bool has_adult() {
  try {
    data::find_adult();
    return true;
  } catch (const Error&) {
    std::printf("skipped: Adult not found\n");
    return false;
  }
}

data::Rows first_rows(const data::Rows& all, std::size_t count) {
  std::vector<std::size_t> which(count);
  std::iota(which.begin(), which.end(), std::size_t{0});
  return all.select(which);
}

data::Rows adult(std::size_t count, const std::string& preprocessing) {
  return first_rows(data::load_adult(data::find_adult(), preprocessing).rows, count);
}

data::Rows census(std::size_t count) {
  return data::encode(data::census_table(count, 1), data::parse_schema(data::census_schema(), "census"), "census").rows;
}

data::Rows dense(std::size_t count, Index features, std::uint64_t seed) {
  return sparse(count, features, static_cast<std::size_t>(features), seed);
}

data::Rows sparse(std::size_t count, Index features, std::size_t entries, std::uint64_t seed) {
  PublicRandom model(1, PublicRandom::Purpose::split);
  Vector truth(features);
  for (double& t : truth) t = model.normal();
  truth *= 8 / truth.norm();
  PublicRandom draw(seed, PublicRandom::Purpose::rows), coin(seed, PublicRandom::Purpose::labels);
  const std::size_t group = static_cast<std::size_t>(features) / entries;
  std::vector<std::int32_t> column(entries);
  std::vector<double> x(entries);
  data::Rows rows;
  rows.features = features;
  rows.start.reserve(count + 1);
  rows.label.reserve(count);
  rows.column.reserve(count * entries);
  rows.value.reserve(count * entries);
  for (std::size_t n = 0; n < count; ++n) {
    for (std::size_t k = 0; k < entries; ++k) {
      column[k] = static_cast<std::int32_t>(k * group + (group > 1 ? draw.below(group) : 0));
      x[k] = draw.normal();
    }
    data::clip_to_unit_norm(x);
    double score = 0;
    for (std::size_t k = 0; k < entries; ++k) score += x[k] * truth[column[k]];
    rows.append(column, x, coin.uniform() < 1 / (1 + std::exp(-score)) ? 1 : -1);
  }
  return rows;
}

std::size_t bytes(const data::Rows& rows) {
  return rows.start.size() * sizeof rows.start[0] + rows.column.size() * sizeof rows.column[0] +
         rows.value.size() * sizeof rows.value[0] + rows.label.size() * sizeof rows.label[0];
}

}  // namespace parley::bench
