// The rows that a run learned from and was tested on, loaded again by its record: so that another algorithm can be measured on
// the very same. Privacy: what this returns are private rows; only their owner may have it.
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "parley/data/source.h"

namespace parley::run {

struct RowsOfRun {
  data::Holdings holdings;
  nlohmann::json about;  // what the files are: format parley-rows-1
};

// folder: of `train`, or of one setting of `compare`. Error where the sources are not there any more, or have rows of other
// sizes or features than the record says.
RowsOfRun rows_of_run(const std::filesystem::path& folder);

enum class RowsFormat { csv, libsvm };
constexpr Words<RowsFormat, 2> words(RowsFormat) {
  return {{{"csv", RowsFormat::csv}, {"libsvm", RowsFormat::libsvm}}};
}

// Encoded, with all digits. CSV: "party,label,FEATURE,…" in `head`, zeros written. LIBSVM: "label index:value … # party 2". The
// party of held-out rows is "test". label: as the loss has it (about).
std::string rows_head(const std::vector<std::string>& features, RowsFormat format);
std::string rows_text(const data::Rows& rows, std::size_t first, std::size_t count, const std::string& party,
                      RowsFormat format);

}  // namespace parley::run
