// Well-formed UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once
#include <string_view>

namespace parley {

struct Utf8 {
  std::size_t length = 0;  // bytes; 0: no character begins there
  char32_t code = 0;
};
Utf8 utf8_at(std::string_view text, std::size_t at);

bool is_utf8(std::string_view text);

}  // namespace parley
