// A CSV file cut into pieces of whole rows, so that several threads can each take one.
#pragma once
#include <string>

#include "parley/data/read/bytes.h"
#include "parley/data/read/csv_layout.h"

namespace parley::data {

struct CsvBlock {
  std::string text;
  std::size_t first_line = 1;
};

class CsvBlocks {
 public:
  explicit CsvBlocks(Bytes bytes, char comment = 0, std::size_t size = std::size_t{128} * 1024);
  // The next rows, about `size` bytes of them. false: at the end. A row that is longer than longest_row is handed on as
  // far as it was read: the scanner refuses it.
  bool next(CsvBlock& block);
  double share() const { return bytes_.share(); }  // of the file, read so far; 0: not known
  const std::string& name() const { return bytes_.name; }

 private:
  // One past the last row that ends in buffer_ at or after `from`; 0: none does. Keeps track of quotes.
  std::size_t last_end(std::size_t from);
  std::size_t last_end_with_comments(std::size_t from);

  Bytes bytes_;
  char comment_;
  std::size_t size_;
  std::string buffer_;  // rows that were read and not yet handed out
  std::size_t line_ = 1;
  bool begun_ = false, ended_ = false;
  bool quoted_ = false, in_comment_ = false, line_start_ = true;  // at the end of what was looked at
};

}  // namespace parley::data
