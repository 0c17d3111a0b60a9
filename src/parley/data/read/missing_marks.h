// Cells that mean "missing". Most cells begin with a character that no mark begins with.
#pragma once
#include <array>
#include <string_view>

#include "parley/data/read/text_index.h"
#include "parley/data/schema.h"
#include "parley/data/schema_texts.h"

namespace parley::data {

class MissingMarks {
 public:
  explicit MissingMarks(const Schema& schema) {
    for (const auto& listed : schema.missing) {
      const std::string mark = folded(listed, schema.fold);
      marks_.add(mark, 0);
      begins_[first(mark)] = true;
    }
  }
  // cell: folded
  bool is(std::string_view cell) const { return begins_[first(cell)] && marks_.contains(cell); }

 private:
  static std::size_t first(std::string_view text) {
    return text.empty() ? 0 : static_cast<unsigned char>(text.front());
  }
  TextIndex marks_;
  std::array<bool, 256> begins_{};
};

}  // namespace parley::data
