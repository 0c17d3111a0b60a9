// Random damage to an input, for the tests that a parser does nothing but parse or throw Error.
#pragma once
#include <random>
#include <string>
#include <string_view>

namespace parley::data {

// The same numbers in every run: for tests only, never for noise.
inline std::mt19937 repeatable_random(unsigned seed) {
  return std::mt19937(seed);
}

// 1 to 8 edits: a byte changed, inserted, removed, a piece doubled, the end cut off. `bytes` are what the format is
// sensitive to.
inline std::string mutated(std::string text, std::string_view bytes, std::mt19937& random) {
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const auto byte = [&] { return below(4) == 0 ? static_cast<char>(random() & 0xFF) : bytes[below(bytes.size())]; };
  for (std::size_t edits = 1 + below(8); edits > 0; --edits) {
    const std::size_t at = below(text.size() + 1);
    switch (below(5)) {
      case 0:
        if (at < text.size()) text[at] = byte();
        break;
      case 1:
        text.insert(at, 1, byte());
        break;
      case 2:
        text.erase(at, below(4));
        break;
      case 3:
        text.insert(below(text.size() + 1), text.substr(at, below(20)));
        break;
      default:
        if (below(8) == 0) text.resize(at);
    }
  }
  return text;
}

}  // namespace parley::data
