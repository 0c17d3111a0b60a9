// A first schema to edit, for people who would rather correct a file than write one.
#pragma once
#include <string>

#include "parley/data/table.h"

namespace parley::data {

// TOML text that parse_schema accepts and that encodes this table, but for cells and rows that its comments name. What a
// person must decide stands in comments that begin with "Decide". label: "" to guess it.
// Privacy: reads bounds and categories off the rows and charges nothing. For public or synthetic samples only, and the
// text's first lines say so.
std::string draft_schema(const Table& table, const std::string& label = "");

}  // namespace parley::data
