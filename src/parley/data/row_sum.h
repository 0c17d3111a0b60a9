// What two sets of rows have in common whatever their order: a sum of hashes of encoded rows. Equal sets have equal sums;
// others differ but by a chance of 2⁻¹²⁸. Privacy: it stays in the process, as a digest of rows would confirm a guess.
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "parley/data/dataset.h"

namespace parley::data {

class RowSum {
 public:
  void add(std::span<const std::int32_t> columns, std::span<const double> values, double label) {
    for (std::size_t i = 0; i < sum_.size(); ++i) {
      std::uint64_t hash = mixed(std::bit_cast<std::uint64_t>(label) + i);
      for (std::size_t k = 0; k < columns.size(); ++k)
        hash = mixed(mixed(hash + static_cast<std::uint32_t>(columns[k])) + std::bit_cast<std::uint64_t>(values[k]));
      sum_[i] += hash;
    }
    ++rows_;
  }
  void add(const Rows& rows) {
    const std::span columns(rows.column);
    const std::span values(rows.value);
    for (std::size_t n = 0; n < rows.count(); ++n) {
      const std::size_t first = rows.start[n], many = rows.start[n + 1] - first;
      add(columns.subspan(first, many), values.subspan(first, many), rows.label[n]);
    }
  }
  std::size_t rows() const { return rows_; }
  bool operator==(const RowSum&) const = default;

 private:
  static std::uint64_t mixed(std::uint64_t x) {  // SplitMix64
    x += 0x9E3779B97F4A7C15U;
    x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31U);
  }
  std::array<std::uint64_t, 2> sum_{};
  std::size_t rows_ = 0;
};

inline RowSum sum_of(const Rows& rows) {
  RowSum sum;
  sum.add(rows);
  return sum;
}

}  // namespace parley::data
