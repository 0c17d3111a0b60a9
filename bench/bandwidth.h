// How fast plain summing of a large array reads it, in the same run as what is compared with it.
#pragma once
#include <algorithm>
#include <array>
#include <vector>

#include "parley/base/parallel.h"
#include "stopwatch.h"

namespace parley::bench {

inline constexpr std::size_t array_bytes = std::size_t{512} << 20, slices = 64;  // far more than any cache

// Bytes per second of reading, the best of several passes: eight sums, so that additions need not wait for each other.
// One thread: by its processor time; several: by the wall.
class Bandwidth {
 public:
  double measure(int threads) {
    double best = 0;
    for (int r = 0; r < 15; ++r) {
      const Stopwatch watch(Stopwatch::Of::process);
      parallel_for(static_cast<int>(slices), threads, [&](int i) { read(static_cast<std::size_t>(i)); });
      const Seconds s = watch.read();
      best = std::max(best, static_cast<double>(array_bytes) / (threads == 1 ? s.cpu : s.wall));
    }
    return best;
  }

 private:
  void read(std::size_t slice) {
    using Lanes = double __attribute__((vector_size(64)));
    const std::size_t length = numbers_.size() / slices;
    const double* p = numbers_.data() + slice * length;
    std::array<Lanes, 4> sum{};
    for (const double* const end = p + length; p != end; p += 32)
      for (std::size_t k = 0; k < 4; ++k) {
        Lanes x;
        __builtin_memcpy(&x, p + 8 * k, sizeof x);
        sum[k] += x;
      }
    sums_[slice] = ((sum[0] + sum[1]) + (sum[2] + sum[3]))[0];
  }
  std::vector<double> numbers_ = std::vector<double>(array_bytes / sizeof(double), 1.0);
  std::array<volatile double, slices> sums_{};
};

}  // namespace parley::bench
