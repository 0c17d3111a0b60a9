#include "parley/data/read/csv_scanner.h"

#include <algorithm>

#include "parley/base/error.h"
#include "parley/base/utf8.h"

namespace parley::data {
namespace {

bool plain(std::span<const char> text) {
  unsigned char seen = 0;
  for (const char c : text) seen |= static_cast<unsigned char>(c & 0x80) | static_cast<unsigned char>(c == 0);
  return seen == 0;
}

}  // namespace

CsvScanner::CsvScanner(std::span<char> text, std::size_t first_line, const CsvLayout& layout, const std::string& source)
    : at_(text.data()),
      end_(text.data() + text.size()),
      layout_(&layout),
      source_(&source),
      line_(first_line),
      plain_(plain(text)) {
  for (const char c : {layout.delimiter, '\n', '\r', '"'}) special_[static_cast<unsigned char>(c)] = true;
}

void CsvScanner::end_line() {
  at_ += *at_ == '\r' && at_ + 1 < end_ && at_[1] == '\n' ? 2 : 1;
  ++line_;
}

void CsvScanner::check_line() {
  if (plain_) return;
  const char* const end = std::find_if(at_, end_, [](char c) { return c == '\n' || c == '\r'; });
  const std::string_view line(at_, static_cast<std::size_t>(end - at_));
  if (is_utf8(line) && line.find('\0') == std::string_view::npos) return;
  throw Error(
      {.what = "the file is not UTF-8 text", .where = at(*source_, line_), .fix = "save it as UTF-8 (iconv -t UTF-8)"});
}

void CsvScanner::misplaced_quote() const {
  throw Error({.what = "a quote stands where none may stand (in the row that starts here)",
               .where = at(*source_, row_line_),
               .fix = "put the whole field in quotes and double every quote inside it: \"say \"\"hi\"\"\""});
}

bool CsvScanner::find_row() {
  while (at_ != end_) {
    if (layout_->comment != 0 && *at_ == layout_->comment) {
      at_ = std::find_if(at_, end_, [](char c) { return c == '\n' || c == '\r'; });
    } else {
      char* text = at_;
      while (layout_->trim && text != end_ && blank(*text)) ++text;
      if (text != end_ && *text != '\n' && *text != '\r') return true;
      at_ = text;
    }
    if (at_ != end_) end_line();
  }
  return false;
}

void CsvScanner::unquoted() {
  const char* const start = at_;
  while (at_ != end_ && !special_[static_cast<unsigned char>(*at_)]) ++at_;
  if (at_ != end_ && *at_ == '"' && layout_->delimiter != '"') misplaced_quote();
  const char* end = at_;
  while (layout_->trim && end != start && blank(end[-1])) --end;
  fields_.emplace_back(start, static_cast<std::size_t>(end - start));
}

void CsvScanner::quoted() {
  char* const start = ++at_;
  char* out = start;  // doubled quotes are closed up in place
  while (true) {
    if (at_ == end_) {
      if (end_ - start > static_cast<std::ptrdiff_t>(longest_row)) return;  // next() refuses it
      throw Error({.what = "a quoted field is never closed (in the row that starts here)",
                   .where = at(*source_, row_line_),
                   .fix = "add the closing quote"});
    }
    if (*at_ == '"') {
      if (at_ + 1 == end_ || at_[1] != '"') break;
      ++at_;
    } else if (at_line_end()) {
      const char* const from = at_;
      end_line();
      for (const char* c = from; c != at_; ++c) *out++ = *c;
      check_line();
      continue;
    }
    *out++ = *at_++;
  }
  fields_.emplace_back(start, static_cast<std::size_t>(out - start));
  ++at_;
  while (layout_->trim && at_ != end_ && blank(*at_)) ++at_;
  if (at_ != end_ && *at_ != layout_->delimiter && !at_line_end()) misplaced_quote();
}

bool CsvScanner::next() {
  fields_.clear();
  if (!find_row()) return false;
  row_line_ = line_;
  const char* const start = at_;
  check_line();
  while (true) {
    while (layout_->trim && at_ != end_ && blank(*at_)) ++at_;
    if (at_ != end_ && *at_ == '"')
      quoted();
    else
      unquoted();
    if (at_ == end_ || *at_ != layout_->delimiter) break;
    ++at_;
  }
  if (at_ - start > static_cast<std::ptrdiff_t>(longest_row))
    throw Error({.what = "a row is longer than any row may be",
                 .allowed = "at most " + std::to_string(longest_row / mebibyte) + " MiB",
                 .where = at(*source_, row_line_),
                 .fix = "check that this is a CSV file with one row a line"});
  if (at_ != end_) end_line();
  return true;
}

}  // namespace parley::data
