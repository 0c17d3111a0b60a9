// The value of an option as people read it.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace parley::report {

std::string exact_text(const nlohmann::json& value);  // for a command line: all digits of numbers; "" of other things
std::string plain_text(const nlohmann::json& value);  // of any JSON value, on one line

}  // namespace parley::report
