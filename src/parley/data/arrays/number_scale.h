// How a number of a column becomes a feature: (t(x) − t(low)) / (t(high) − t(low)) ∈ [0, 1]; with scale = "bound" twice
// that, less 1. Cells of a file and numbers in memory go through this, so that both have the same bits.
#pragma once
#include <algorithm>

#include "parley/data/schema.h"

namespace parley::data {

class NumberScale {
 public:
  NumberScale(const Column& column, Scale scale) : transform_(column.transform), centred_(scale == Scale::bound) {
    if (!column.bounds || column.transform == Transform::bins) return;
    low_ = transformed(transform_, column.bounds->low);
    width_ = transformed(transform_, column.bounds->high) - low_;
  }
  double operator()(double within_bounds) const {
    const double from_0 = std::clamp((transformed(transform_, within_bounds) - low_) / width_, 0.0, 1.0);
    return centred_ ? 2 * from_0 - 1 : from_0;
  }

 private:
  Transform transform_;
  bool centred_;
  double low_ = 0, width_ = 1;  // t(low), t(high) − t(low)
};

// A label of bounds becomes 2 (y − low) / (high − low) − 1.
inline double scaled_target(double within_bounds, const Bounds& b) {
  return std::clamp(2 * ((within_bounds - b.low) / (b.high - b.low)) - 1, -1.0, 1.0);
}

}  // namespace parley::data
