// Two ways to fail. A mistake of the user's (file, option, certificate, graph) is an Error, caught in main only, and
// its text says what, which value, what is allowed, where, and what to do. A bug is a failed expects(): nobody catches
// it inside the library.
#pragma once
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace parley {

class Error : public std::runtime_error {
 public:
  struct Parts {
    std::string what;       // "penalty must be > 0"
    std::string value{};    // "-2"
    std::string allowed{};  // "a number > 0"
    std::string where{};    // "option --penalty", "mine.csv:17"
    std::string fix{};      // "give a positive number"
  };
  explicit Error(const Parts& parts);
  explicit Error(const std::vector<Parts>& all);  // several violations at once
};

// Throws std::logic_error with the place: a bug in parley, never reachable by input.
inline void expects(bool holds, std::string_view rule, std::source_location at = std::source_location::current()) {
  if (holds) return;
  throw std::logic_error("bug in parley: expected " + std::string(rule) + " (" + at.file_name() + ":" +
                         std::to_string(at.line()) + ")");
}

}  // namespace parley
