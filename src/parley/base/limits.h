// Public limits that several rooms keep to.
#pragma once
#include <cstdint>

namespace parley {

// The most numbers that one round of all nodes may have: what is larger is no record, and no plan.
inline constexpr std::uint64_t most_numbers_of_a_round = 100'000'000;

}  // namespace parley
