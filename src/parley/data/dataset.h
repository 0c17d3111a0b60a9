// Encoded rows, ready for learning. Everything a Dataset says about its features (names, dimension, scaling) comes from
// a public schema, never from the rows; where that does not hold (the papers' preprocessing) `not_public` says why and
// the run is marked.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/vector.h"

namespace parley::data {

// Compressed sparse rows. Row n has the entries start[n] … start[n+1]−1; ‖x_n‖₂ ≤ 1 holds for every row (encode clips).
struct Rows {
  std::vector<std::size_t> start{0};
  std::vector<std::int32_t> column;
  std::vector<double> value;
  // Two classes: −1 or +1. Dataset::classes: the class number. Regression: a target scaled by public bounds to [−1, 1].
  std::vector<double> label;
  Index features = 0;

  std::size_t count() const { return label.size(); }
  bool full() const { return value.size() == count() * static_cast<std::size_t>(features); }  // no zeros left out
  bool mostly_full() const { return 2 * value.size() > count() * static_cast<std::size_t>(features); }
  // columns: strictly increasing, in [0, features); values and y finite. Does not clip.
  void append(std::span<const std::int32_t> columns, std::span<const double> values, double y);
  Rows select(std::span<const std::size_t> which) const;
  std::array<std::string_view, 3> bytes() const;  // its numbers, for a fingerprint
};

// x ← x / max(1, ‖x‖₂), and then ‖x‖₂ ≤ 1 in exact arithmetic, not only up to rounding: sensitivity proofs use it.
// Idempotent.
void clip_to_unit_norm(std::span<double> values);

struct Dataset {
  std::string name;  // for people: "census", "adult (compact)", "mine.csv"
  Rows rows;
  std::vector<std::string> feature_names;
  std::vector<std::string> split_key;  // per row, the value of the column asked for by --split-column; empty otherwise
  // Per row, which person's it is, numbered as they first appear in the file; empty where the schema names none.
  std::vector<std::uint32_t> person{};
  std::vector<std::string> persons{};  // their texts, by number. Privacy: they never leave the process
  std::string not_public;              // why preprocessing depended on the data; empty when it did not
  std::string schema_toml;             // what `predict` needs to encode new rows the same way; empty for LIBSVM
  bool regression = false;
  std::vector<std::string> classes{};  // label c means classes[c]; empty: the label is −1 or +1, or a target
};

}  // namespace parley::data
