// Cells of a CSV file (RFC 4180).
#pragma once
#include <string>
#include <string_view>

namespace parley {

std::string csv_quoted(std::string_view text);  // "…", with every quote doubled
// In quotes where they are needed: a comma, a quote, the end of a line, a blank at either end. Reads back as the text.
std::string csv_cell(std::string_view text);
// For text that somebody else chose, in a file that people open in a spreadsheet: what it would take for a formula
// (=, +, -, @ first) gets an apostrophe.
std::string spreadsheet_cell(std::string_view text);

}  // namespace parley
