// RFC 4180, one row after another, out of text that is whole rows. Strict: a quote where none may stand, a quoted field
// that is never closed, bytes that are not UTF-8 and rows beyond longest_row are Errors with the line.
#pragma once
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parley/data/read/csv_layout.h"

namespace parley::data {

class CsvScanner {
 public:
  // The text is changed (doubled quotes become one), and must outlive the fields. first_line: its number in the file.
  CsvScanner(std::span<char> text, std::size_t first_line, const CsvLayout& layout, const std::string& source);

  bool next();  // false: there are no more rows. Blank lines and comments are skipped.
  const std::vector<std::string_view>& fields() const { return fields_; }
  Place place() const { return {source_, row_line_}; }  // where the row starts

 private:
  bool find_row();
  void unquoted();
  void quoted();
  void end_line();
  void check_line();  // the line that starts here is UTF-8 without NUL
  bool blank(char c) const { return (c == ' ' || c == '\t') && c != layout_->delimiter; }
  bool at_line_end() const { return *at_ == '\n' || *at_ == '\r'; }
  [[noreturn]] void misplaced_quote() const;

  char* at_;
  char* end_;
  const CsvLayout* layout_;
  const std::string* source_;
  std::size_t line_, row_line_ = 0;
  bool plain_ = true;                // ASCII without NUL: no line needs a look
  std::array<bool, 256> special_{};  // ends an unquoted field
  std::vector<std::string_view> fields_;
};

}  // namespace parley::data
