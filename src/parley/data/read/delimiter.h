// What separates the fields of a CSV file. Privacy: it is read off the header line alone, whose names are public.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/data/read/csv_layout.h"

namespace parley::data {

// The first row is the header: the candidate that it holds most often, outside quotes; a comma when there is none.
// Without a header a comma: nothing is read off rows.
char found_delimiter(std::string_view text, const CsvLayout& layout);

// "auto" is 0; comma, semicolon, tab, pipe, or the character itself; Error naming `where`.
char delimiter_of(const std::string& word, const std::string& where = "option --delimiter");
std::string delimiter_word(char delimiter);  // "semicolon"; "'^'"
// What the reader of a file is told when its delimiter was found and is no comma; else "".
std::string found_delimiter_note(const std::string& file, char delimiter);

// The word for --delimiter when one other than `used` makes `columns` fields of this row, or several of one; else "".
std::string suspected_delimiter(const std::vector<std::string_view>& fields, std::size_t columns, char used);

}  // namespace parley::data
