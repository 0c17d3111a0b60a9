// Group privacy: what a round costs a person who has up to g rows at one party. Replacing g rows is g replacements of one
// row, one after the other, so an ε-DP round is gε-DP for all of them and a μ-GDP round is gμ-GDP (Dong, Roth, Su 2022,
// Theorem 2.14; docs/proofs/person.md, theorem P1). That is exact where the rows all push the same way: g times the shift.
#pragma once
#include "parley/privacy/release.h"

namespace parley::privacy {

inline constexpr long most_rows_per_person = 1'000'000;

// rows · price, rounded up.
double for_group(double price, long rows);

// What the charge of one row is for a person. rows: 0 where a schema names no person, and then nothing changes; otherwise
// g stands among the parameters, so that the ledger can compute the price again.
Charge for_person(Charge of_one_row, long rows);

}  // namespace parley::privacy
