// LIBSVM's sparse text: "label index:value index:value ...  # comment", indices 1-based and strictly increasing.
// Labels are −1/+1, or 0/1 read as −1/+1. Rows are clipped to ‖x‖₂ ≤ 1. `features` is public knowledge (--features):
// taking the largest index seen would be a statistic of the rows.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "parley/data/dataset.h"

namespace parley::data {

Rows read_libsvm(const std::filesystem::path& path, Index features);
Rows parse_libsvm(std::string_view text, const std::string& source, Index features);

}  // namespace parley::data
