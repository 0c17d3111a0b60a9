// The task `parley data export`: the rows of a run for another program.
#pragma once
#include <string>

#include "parley/run/export/rows.h"

namespace parley::cli {

int export_rows(const std::string& run_folder, const std::string& out, const Choice<run::RowsFormat>& format);

}  // namespace parley::cli
