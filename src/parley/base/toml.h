// TOML files: the one place that reads them, and their values as JSON.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

// Trap: toml++ 3.3 asserts in parse_key() on input like "[[[" and "[&" (marzer/tomlplusplus#294) although the next
// lines of the parser report it properly. Debian's library is built without asserts; used as headers it must be too, or
// input aborts us.
#ifndef TOML_ASSERT
#define TOML_ASSERT(expr) static_cast<void>(0)
#endif
#include <toml++/toml.h>

namespace parley {

// Error with the line when the text is not TOML.
toml::table parse_toml(std::string_view text, const std::string& file);

// The value of an option: text, a number, yes or no, or a list of these. Anything else is an Error at `where`.
nlohmann::json toml_value(const toml::node& node, const std::string& where);

}  // namespace parley
