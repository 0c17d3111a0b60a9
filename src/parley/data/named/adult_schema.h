// Public schemas of Adult (Becker, Kohavi 1996). Bounds and categories come from the data set's documentation
// (adult.names) and from what the quantities are (a two-digit count of hours, a five-digit top code), not from the
// rows: using them costs no privacy.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace parley::data {

// The 15 columns of adult.data and adult.test in file order; the last one, income, is the label.
const std::vector<std::string>& adult_columns();

// Every column, every documented category; '?' is a category of its own where the documentation allows it. No row is
// dropped.
std::string_view adult_public_schema();

// What a model of income needs: log of the capital columns, age in bins, education in years, no country, no census
// weight. Fewer features that matter more, so less noise for the same privacy (each row has norm ≤ 1 whatever its
// dimension).
std::string_view adult_compact_schema();

}  // namespace parley::data
