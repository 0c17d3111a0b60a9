// Which of many equal sentences are worth a line of the log: the first, the tenth, the hundredth, … Whoever floods this
// party from outside floods neither its log nor its memory.
#pragma once
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "parley/base/log_line.h"

namespace parley::mesh {

class LogThrottle {
 public:
  // What to say: the sentence, and how often it would have been said. about: what makes two sentences equal.
  std::optional<std::string> worth(const std::string& about, const std::string& sentence) {
    const std::lock_guard lock(mutex_);
    const bool known = counts_.contains(about) || counts_.size() < most;
    long& count = counts_[known ? about : std::string()];  // what comes after the first `most` kinds is one kind
    if (++count == 1) return sentence;
    if (!worth_a_line(count)) return std::nullopt;
    return sentence + " (" + std::to_string(count) + " times)";
  }

 private:
  static constexpr std::size_t most = 256;
  std::mutex mutex_;
  std::map<std::string, long> counts_;
};

}  // namespace parley::mesh
