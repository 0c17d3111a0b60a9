// Public limits that several rooms keep to.
#pragma once
#include <cstdint>

namespace parley {

// The most numbers that one round of all nodes may have: what is larger is no record, and no plan.
inline constexpr std::uint64_t most_numbers_of_a_round = 100'000'000;

// The most features whose second moments newton releases unasked. A party holds up to 24 matrices of this size at once (16
// sums of products side by side, the eigenvectors and what finding them takes): 1.7 GB.
inline constexpr long most_features_of_full_curvature = 3000;

}  // namespace parley
