// Synthetic people, like Adult in shape: 8 categorical and 6 numeric columns, skewed shares, related columns, about a
// quarter of the labels positive. Anyone may see them, and the model that drew the labels is known, so a learner can be
// measured against it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "parley/base/vector.h"
#include "parley/data/table.h"

namespace parley::data {

// Rows are independent given the seed; the first n rows do not depend on `rows`, and are the same on every platform
// (a label is one comparison with exp; only a last bit of libm at the very threshold could turn it).
// Labels: P(y = +1 | x) = 1 / (1 + exp(−wᵀx)) with w = census_truth() and x the row as encoded by census_schema(), so
// logistic regression without regularisation is well specified. Compare predictions with w, not weights: the ones of
// each categorical column sum to the intercept, so other weights give the same probabilities.
Table census_table(std::size_t rows, std::uint64_t seed);

std::string_view census_schema();  // TOML; bounds and categories are those of the generator
Vector census_truth();             // w, one weight per encoded feature (the intercept among them)

}  // namespace parley::data
