// The rows that benchmarks run on, and the weights of the papers' experiment.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "parley/data/dataset.h"

namespace parley::bench {

constexpr double loss_weight = 1750, regularization = 0.22;  // C and ρ of the papers' experiments
constexpr int nodes = 5, rounds = 50;

bool has_adult();  // prints that it is skipped where the files are not found
data::Rows first_rows(const data::Rows& all, std::size_t count);
data::Rows adult(std::size_t count, const std::string& preprocessing = "paper");  // "paper": as in the papers
data::Rows census(std::size_t count);

// Directions uniform, labels drawn by a logistic model of norm 8, the same for every seed. No byte of the arrays is
// spare.
data::Rows dense(std::size_t count, Index features, std::uint64_t seed = 1);
// The same with `entries` entries in each row, one in each of as many groups of columns. entries divides features.
data::Rows sparse(std::size_t count, Index features, std::size_t entries, std::uint64_t seed = 1);

std::size_t bytes(const data::Rows& rows);  // of its arrays

}  // namespace parley::bench
