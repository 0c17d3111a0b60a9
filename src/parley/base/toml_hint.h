// What a person meant by a line that is not TOML.
#pragma once
#include <string>
#include <string_view>

namespace parley {

// What to do about the mistake that the parser found in this line (counted from 1) of the file; "" where nothing is known.
std::string toml_hint(std::string_view text, std::size_t line, const std::string& file);

}  // namespace parley
