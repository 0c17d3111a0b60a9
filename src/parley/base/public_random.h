// A small seeded generator for choices that are public anyway: synthetic data, splits, permutations.
// Never for noise: it is predictable by design (noise comes from parley/privacy only).
// Everything below is integer arithmetic or +, −, × on doubles, so a seed gives the same bits with every compiler and
// libm; std::uniform_real_distribution and friends are left to the implementation and would not.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "parley/base/error.h"

namespace parley {

// xoshiro256++ (Blackman, Vigna 2019), seeded by splitmix64 as its authors ask.
class PublicRandom {
 public:
  // The user gives one seed for everything; `purpose` keeps what is drawn from it unrelated (rows, labels, hold-out,
  // split).
  enum class Purpose : std::uint64_t { rows = 1, labels, hold_out, split, graph };
  PublicRandom(std::uint64_t seed, Purpose purpose) {
    std::uint64_t counter = mixed(seed) + static_cast<std::uint64_t>(purpose);
    for (auto& word : state_) word = mixed(counter += 0x9e3779b97f4a7c15U);
  }

  std::uint64_t next() {
    const std::uint64_t result = rotate(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }  // [0, 1), 53 bits

  // Uniform on 0 … n−1, n ≥ 1. The first 2⁶⁴ mod n words are refused: a plain remainder would favour small values.
  std::uint64_t below(std::uint64_t n) {
    expects(n > 0, "a range to draw from");
    const std::uint64_t refused = (0 - n) % n;  // NOLINT(clang-analyzer-core.DivideZero): expects() throws
    while (true) {
      const std::uint64_t word = next();
      if (word >= refused) return word % n;
    }
  }

  // About N(0, 1): twelve uniforms minus six (variance 12 · 1/12). Needs no log or cos; its tails end at ±6.
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
  }

  // 0 … n−1 in random order (Fisher, Yates).
  std::vector<std::size_t> permutation(std::size_t n) {
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[below(i)]);
    return order;
  }

 private:
  static std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  static std::uint64_t rotate(std::uint64_t x, int by) { return (x << by) | (x >> (64 - by)); }
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace parley
