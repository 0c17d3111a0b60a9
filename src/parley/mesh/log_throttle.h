// Which of many lines of one kind are worth a line of the log: the first, the tenth, the hundredth, …, and one when ten
// minutes have passed since the last. Whoever floods this party from outside floods neither its log nor its memory, and
// silences nobody for good.
// Trap: a kind is made of what this party knows (a reason, a name in its roster), never of a caller's words or of a
// date. Kinds that a caller can make up would use up all that there may be, and nothing new would be said after them.
#pragma once
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "parley/base/log_line.h"

namespace parley::mesh {

class LogThrottle {
 public:
  using Clock = std::chrono::steady_clock;
  explicit LogThrottle(std::function<Clock::time_point()> now = [] { return Clock::now(); }) : now_(std::move(now)) {}

  // What to say: the sentence, and how many of its kind there have been.
  std::optional<std::string> worth(const std::string& kind, const std::string& sentence) {
    const std::lock_guard lock(mutex_);
    Said& said = said_[kind];
    const auto now = now_();
    ++said.count;
    const bool recent = said.count > 1 && now - said.last < std::chrono::minutes(10);
    if (recent && !worth_a_line(said.count)) return std::nullopt;
    said.last = now;
    return said.count == 1 ? sentence : sentence + " (" + std::to_string(said.count) + " times)";
  }

 private:
  struct Said {
    long count = 0;
    Clock::time_point last{};
  };
  std::function<Clock::time_point()> now_;
  std::mutex mutex_;
  std::map<std::string, Said> said_;
};

}  // namespace parley::mesh
