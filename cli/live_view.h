// A run while it goes on: round, loss and privacy in three lines that rewrite themselves; plain lines elsewhere.
#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "cli/terminal.h"
#include "parley/run/simulate.h"

namespace parley::cli {

class LiveView {
 public:
  struct Shown {
    long rounds = 0, repeats = 1;  // of each, and how many
    std::optional<double> budget;  // ε of the whole run; none: without noise
    std::string mark;              // beside ε, where it is not a guarantee or one for rows as dealt only
  };
  LiveView(bool quiet, Shown shown);
  void show(int repeat, const run::RoundMetrics& round);
  void finish() { progress_.finish(); }

 private:
  Shown shown_;
  Progress progress_;
  std::vector<double> losses_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace parley::cli
