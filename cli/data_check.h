// `parley data check`: what is wrong with files of rows, all at once.
#pragma once
#include <string>
#include <vector>

#include "parley/data/read/csv_options.h"

namespace parley::cli {

// sources: files, also several in one word with commas; "-"; a database.
int check_data(const std::vector<std::string>& sources, const std::string& schema, const data::CsvOptions& csv);

}  // namespace parley::cli
