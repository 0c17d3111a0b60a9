// JSON from files that others may have written.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace parley {

// null: no JSON, or nested deeper than any file of ours. Trap: json is copied and dumped by recursion.
nlohmann::json shallow_json(const std::string& text);

}  // namespace parley
