// A line of a party's log: when, how grave, about whom, and a sentence.
#pragma once
#include <chrono>
#include <string>
#include <utility>

#include "parley/base/text.h"

namespace parley {

enum class Level { info, warning, error };

struct LogLine {
  // Of a sentence alone, where nobody is meant and nothing has to be done.
  LogLine(std::string sentence, Level grave = Level::info, std::string about = "")  // NOLINT(*-explicit-*)
      : text(std::move(sentence)), level(grave), peer(std::move(about)) {}
  operator const std::string&() const { return text; }  // NOLINT(*-explicit-*)
  friend bool operator==(const LogLine& line, const std::string& sentence) { return line.text == sentence; }

  std::string text;
  Level level;
  std::string peer;  // the party that it is about; empty: none
};

// The first, the tenth, the hundredth, … of many equal lines: whoever floods a party does not flood its log.
inline bool worth_a_line(long count) {
  while (count % 10 == 0 && count > 0) count /= 10;
  return count == 1;
}

// "2026-03-01T12:00:05Z warning hospital_b: hospital_b has not answered for 2 s"
inline std::string logged(const LogLine& line, std::chrono::sys_seconds now) {
  const char* const level = line.level == Level::info ? "info" : line.level == Level::warning ? "warning" : "error";
  return iso_time(now) + " " + level + (line.peer.empty() ? "" : " " + line.peer) + ": " + line.text;
}

}  // namespace parley
