#pragma once
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "parley/data/dataset.h"

namespace parley::problem {

using data::Rows;

// Rows with about `filled` of the entries set, norm ≤ 1; labels from a random direction, some flipped.
inline Rows random_rows(std::size_t count, Index features, double filled, unsigned seed, bool regression = false) {
  std::mt19937 draw(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  Vector truth(features);
  for (auto& w : truth) w = normal(draw);
  Rows rows;
  rows.features = features;
  for (std::size_t n = 0; n < count; ++n) {
    std::vector<std::int32_t> columns;
    std::vector<double> values;
    double norm = 0, s = 0;
    for (Index k = 0; k < features; ++k)
      if (uniform(draw) < filled) {
        columns.push_back(static_cast<std::int32_t>(k));
        values.push_back(normal(draw));
        norm += values.back() * values.back();
      }
    norm = std::max(1.0, std::sqrt(norm) * (1 + 1e-12));
    for (std::size_t k = 0; k < values.size(); ++k) s += (values[k] /= norm) * truth[columns[k]];
    rows.append(columns, values,
                regression ? std::tanh(s + 0.3 * normal(draw)) : (s + 0.5 * normal(draw) > 0 ? 1.0 : -1.0));
  }
  return rows;
}

// The same with class numbers 0, …, classes − 1: by the length of the score, some moved on by one.
inline Rows random_class_rows(std::size_t count, Index features, double filled, unsigned seed, int classes) {
  Rows rows = random_rows(count, features, filled, seed, true);
  std::mt19937 draw(seed + 1000);
  for (double& y : rows.label) {
    const int c = std::min(classes - 1, static_cast<int>((y + 1) / 2 * classes));
    y = (c + (draw() % 5 == 0 ? 1 : 0)) % classes;
  }
  return rows;
}

inline Vector random_vector(Index size, double scale, std::mt19937& draw) {
  std::normal_distribution<double> normal(0, scale);
  Vector v(size);
  for (auto& x : v) x = normal(draw);
  return v;
}

}  // namespace parley::problem
