// Rows of a file some at a time, so that memory follows these and not the file.
#pragma once
#include <cstddef>
#include <optional>
#include <string_view>

#include "parley/base/input_file.h"

namespace parley::data {

// At least one, or nullopt: there are no more. Collected (LibsvmRows) makes rows of lines: add, end, count,
// take; refuse_long throws.
template <class Collected>
auto next_rows(InputLines& lines, Collected& rows, std::size_t most) -> std::optional<decltype(rows.take())> {
  std::string_view line;
  std::optional<bool> there = true;
  while (rows.count() < most && (there = lines.next(line)) && *there) rows.add(line);
  if (!there) rows.refuse_long();
  if (!*there) rows.end();
  if (rows.count() == 0) return std::nullopt;
  return rows.take();
}

}  // namespace parley::data
