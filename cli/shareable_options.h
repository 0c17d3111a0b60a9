// Which options a shareable report may show: what the option rows of the program say, for a report that knows none.
#pragma once
#include "parley/record/schema.h"

namespace parley::cli {

record::OptionRule shareable_options();

}  // namespace parley::cli
