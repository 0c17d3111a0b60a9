// parley study abandon: a party takes no further part in a run, and keeps no secret of it.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "parley/base/options.h"

namespace parley::cli {

struct AbandonOptions {
  std::string out;
};
std::vector<Option> rows(AbandonOptions& o);

int abandon_study(const std::filesystem::path& file, const std::string& as, const AbandonOptions& o);

}  // namespace parley::cli
