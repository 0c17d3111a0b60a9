#pragma once
#include <string>
#include <string_view>

namespace parley::data {

// SHA-256 of the bytes (FIPS 180-4), 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view bytes);

}  // namespace parley::data
