// Two ways to fail. A mistake of the user's (file, option, certificate, graph) is an Error, caught where its code decides,
// otherwise in main, and its text says what, which value, what is allowed, where, and what to do. A bug is a failed
// expects(): nobody catches it inside the library.
// Whoever catches an Error reads its fields and its code; the text is for people, and nothing reads it back.
#pragma once
#include <memory>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace parley {

// What a caller may decide on. Each folder declares its codes in one place, beside what throws them.
struct ErrorCode {
  std::string_view name{};  // "ledger_in_use"; empty: nobody decides on it
  bool operator==(const ErrorCode&) const = default;
};

class Error : public std::runtime_error {
 public:
  struct Fields {
    std::string what;       // "penalty must be > 0"
    std::string value{};    // "-2"
    std::string allowed{};  // "a number > 0"
    std::string where{};    // "option --penalty", "mine.csv:17"
    std::string fix{};      // "give a positive number"
    ErrorCode code{};
    std::string sentence() const;  // where, what, value, allowed: without what to do
  };
  explicit Error(const Fields& fields);
  explicit Error(const std::vector<Fields>& all);  // several violations at once

  const std::vector<Fields>& fields() const { return *fields_; }  // one of each violation
  bool is(ErrorCode code) const;                                  // one of the violations is that
  std::string brief() const;                                      // the first one's sentence
  std::string in_one_line() const;                                // all of them, with what to do

 private:
  std::shared_ptr<const std::vector<Fields>> fields_;  // shared: copying an exception must not throw
};

// Throws std::logic_error with the place: a bug in parley, never reachable by input.
inline void expects(bool holds, std::string_view rule, std::source_location at = std::source_location::current()) {
  if (holds) return;
  throw std::logic_error("bug in parley: expected " + std::string(rule) + " (" + at.file_name() + ":" +
                         std::to_string(at.line()) + ")");
}

}  // namespace parley
