#include "parley/data/read/csv_blocks.h"

#include <algorithm>
#include <utility>

namespace parley::data {
namespace {

// Line ends: \n, \r\n, or a lone \r.
std::size_t lines(const std::string& text) {
  auto count = static_cast<std::size_t>(std::ranges::count(text, '\n'));
  if (text.find('\r') == std::string::npos) return count;
  for (std::size_t i = 0; i < text.size(); ++i)
    count += text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n');
  return count;
}

}  // namespace

CsvBlocks::CsvBlocks(Bytes bytes, char comment, std::size_t size)
    : bytes_(std::move(bytes)), comment_(comment), size_(size) {}

// A line end between two quotes that belong together ends no row. In a file without mistakes quotes come in pairs, so
// an even number before a line end says that it ends a row. A mistake lies in a row that begins at a row's true
// beginning, and up to the mistake the count is right: the piece that holds this row shows the mistake.
std::size_t CsvBlocks::last_end(std::size_t from) {
  if (comment_ != 0) return last_end_with_comments(from);
  const auto count = std::count(buffer_.begin() + static_cast<std::ptrdiff_t>(from), buffer_.end(), '"');
  const bool quoted_at_end = quoted_ != (count % 2 == 1);
  quoted_ = quoted_at_end;
  bool quoted = quoted_at_end;
  for (std::size_t i = buffer_.size(); i > from; --i) {
    const char c = buffer_[i - 1];
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '\n' || (c == '\r' && i < buffer_.size() && buffer_[i] != '\n')) return i;
  }
  return 0;
}

std::size_t CsvBlocks::last_end_with_comments(std::size_t from) {
  std::size_t end = 0;
  for (std::size_t i = from; i < buffer_.size(); ++i) {
    const char c = buffer_[i];
    if (line_start_ && !quoted_ && c == comment_) in_comment_ = true;
    if (c == '"' && !in_comment_) quoted_ = !quoted_;
    line_start_ = c == '\n' || c == '\r';
    if (!line_start_) continue;
    in_comment_ = false;
    if (!quoted_ && (c == '\n' || (i + 1 < buffer_.size() && buffer_[i + 1] != '\n'))) end = i + 1;
  }
  return end;
}

bool CsvBlocks::next(CsvBlock& block) {
  std::size_t end = 0;
  while (end == 0 && !ended_ && buffer_.size() <= longest_row) {
    const std::size_t before = buffer_.size();
    buffer_.resize(before + size_);
    const std::size_t got = bytes_.read(buffer_.data() + before, size_);
    buffer_.resize(before + got);
    ended_ = got < size_;
    if (!begun_ && buffer_.starts_with("\xEF\xBB\xBF")) buffer_.erase(0, 3);
    // Trap: a \r at the very end is looked at again, for only the next byte says whether it ends a line.
    const std::size_t from = begun_ && before > 0 && buffer_[before - 1] == '\r' ? before - 1 : begun_ ? before : 0;
    begun_ = true;
    end = last_end(from);
  }
  if (ended_ || end == 0) end = buffer_.size();
  if (end == 0) return false;
  block.text.assign(buffer_, 0, end);
  block.first_line = line_;
  line_ += lines(block.text);
  buffer_.erase(0, end);
  return true;
}

}  // namespace parley::data
