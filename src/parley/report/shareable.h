// What of a record may leave its owner. A list of what may, never of what may not: an option, a word or a file that is
// not known here is not shown.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "parley/report/run.h"

namespace parley::report {

// The text of an option's value; nothing when this audience may not see it.
std::optional<std::string> shown_option(const std::string& name, const nlohmann::json& value, Audience audience);

// The name of built-in rows; "" for anything else (a file name says where and what somebody keeps).
std::string shown_data(const std::string& name, Audience audience);

std::string plain_text(const nlohmann::json& value);  // of any JSON value, on one line

}  // namespace parley::report
