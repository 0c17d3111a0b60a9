// The record of `join`: one party's own values, the study that all parties signed, and its signed statement.
#pragma once
#include "parley/report/find.h"
#include "parley/report/run.h"

namespace parley::report {

Run read_party(const Parts& parts, Audience audience);  // of one run, in the order given

// What simulations and parties have in common (read.cpp).
void read_common(Run& run, const nlohmann::json& top, const nlohmann::json& options, Audience audience);
void read_rounds(Run& run, const std::filesystem::path& folder, Audience audience);

}  // namespace parley::report
