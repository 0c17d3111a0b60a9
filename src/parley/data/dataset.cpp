#include "parley/data/dataset.h"

#include <cmath>

#include "parley/base/error.h"

namespace parley::data {
namespace {

// An upper bound on Σ v². Each product and each sum in long double errs by at most 2⁻⁶⁴ relative, all terms are ≥ 0, so
// n terms err by less than (n + 1) 2⁻⁶³. One term needs no margin: rounding is monotone, v² ≤ 1 stays ≤ 1.
long double squared_norm_upper(std::span<const double> values) {
  long double sum = 0;
  for (const double v : values) sum += static_cast<long double>(v) * v;
  if (values.size() <= 1) return sum;
  return sum * (1 + static_cast<long double>(values.size() + 1) * 0x1p-63L);
}

}  // namespace

void clip_to_unit_norm(std::span<double> values) {
  const long double squared = squared_norm_upper(values);
  expects(std::isfinite(squared), "finite features before clipping");
  if (squared <= 1) return;
  // Trap: v/|v| rounded to double may have norm 1 + 10⁻¹⁶. Shrink by 1, 2, 4, ... units in the last place until it has
  // not.
  thread_local std::vector<double> given;  // a hundred million rows need no memory of their own
  given.assign(values.begin(), values.end());
  const long double norm = std::sqrt(squared);
  for (long double shrink = 0;; shrink = shrink == 0 ? 0x1p-53L : 2 * shrink) {
    const long double scale = (1 - shrink) / norm;
    for (std::size_t i = 0; i < given.size(); ++i) values[i] = static_cast<double>(given[i] * scale);
    if (squared_norm_upper(values) <= 1) return;
  }
}

void Rows::append(std::span<const std::int32_t> columns, std::span<const double> values, double y) {
  expects(columns.size() == values.size(), "as many columns as values");
  expects(std::isfinite(y), "a finite label");
  for (std::size_t i = 0; i < columns.size(); ++i) {
    expects(columns[i] >= 0 && columns[i] < features, "columns in [0, features)");
    expects(i == 0 || columns[i - 1] < columns[i], "strictly increasing columns");
    expects(std::isfinite(values[i]), "finite features");
  }
  column.insert(column.end(), columns.begin(), columns.end());
  value.insert(value.end(), values.begin(), values.end());
  label.push_back(y);
  start.push_back(column.size());
}

std::array<std::string_view, 3> Rows::bytes() const {
  const auto of = [](const auto& v) {
    return std::string_view(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(v[0]));
  };
  return {of(column), of(value), of(label)};
}

Rows Rows::select(std::span<const std::size_t> which) const {
  Rows chosen;
  chosen.features = features;
  for (const std::size_t n : which) {
    expects(n < count(), "a row that exists");
    const std::size_t length = start[n + 1] - start[n];
    chosen.append({column.data() + start[n], length}, {value.data() + start[n], length}, label[n]);
  }
  return chosen;
}

}  // namespace parley::data
