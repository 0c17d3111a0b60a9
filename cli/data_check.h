// `parley data check`: what is wrong with files of rows, all at once.
#pragma once
#include <string>
#include <vector>

#include "parley/data/read/csv_layout.h"

namespace parley::cli {

int check_data(const std::vector<std::string>& files, const std::string& schema, const data::CsvLayout& layout);

}  // namespace parley::cli
