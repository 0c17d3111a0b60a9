// The value of an option as people read it.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace parley::report {

std::string plain_text(const nlohmann::json& value);  // of any JSON value, on one line

}  // namespace parley::report
