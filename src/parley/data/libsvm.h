// LIBSVM's sparse text: "label index:value index:value ...  # comment", indices 1-based and strictly increasing.
// Labels are −1/+1, or 0/1 read as −1/+1. Rows are clipped to ‖x‖₂ ≤ 1. `features` is public knowledge (--features):
// taking the largest index seen would be a statistic of the rows.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "parley/base/input_file.h"
#include "parley/data/dataset.h"

namespace parley::data {

Rows read_libsvm(const std::filesystem::path& path, Index features);
Rows parse_libsvm(std::string_view text, const std::string& source, Index features);

// Rows as their lines come in.
class LibsvmRows {
 public:
  LibsvmRows(std::string source, Index features);
  void add(std::string_view line);
  void end() const;  // Error: there was no row
  std::size_t count() const { return rows_.count(); }
  Rows take();
  [[noreturn]] void refuse_long() const;  // the line after those that were added

 private:
  std::string source_;
  Rows rows_;
  std::size_t line_ = 0, zero_line_ = 0, minus_line_ = 0;  // where label 0 and label -1 were seen first
  bool any_ = false;
};

// The same file some rows at a time: memory follows these, not the file.
class LibsvmReader {
 public:
  LibsvmReader(const std::filesystem::path& path, Index features);
  std::optional<Rows> next(std::size_t most_rows);  // the next rows, at least one; nullopt: there are no more

 private:
  InputLines lines_;
  LibsvmRows rows_;
};

}  // namespace parley::data
