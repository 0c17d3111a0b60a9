// How a CSV file is laid out, and how messages name a place in it.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "parley/base/input_file.h"

namespace parley::data {

struct CsvLayout {
  bool header = true;
  std::vector<std::string> columns{};  // names when there is no header; empty then means c1, c2, ...
  char comment = 0;                    // lines starting with this are skipped (Adult has '|'); 0: none
  bool trim = true;                    // blanks around an unquoted field are dropped; quoted text is kept as it is
  char delimiter = ',';                // between fields; 0: read off the header line (delimiter.h)
};

constexpr std::size_t longest_row = 64 * mebibyte;  // of a hostile file no more is ever held for one row

inline std::string at(const std::string& source, std::size_t line) {
  return source + ":" + std::to_string(line);
}

// "mine.csv:17", put together only when somebody has to be told.
struct Place {
  const std::string* source;
  std::size_t line;
  std::string text() const { return at(*source, line); }
};

}  // namespace parley::data
