// The time of one thread's work: by the wall, and of the processor alone. On an idle machine they agree; on a shared
// one the wall also counts whoever else ran, so comparisons use the processor's.
#pragma once
#include <algorithm>
#include <chrono>
#include <ctime>
#include <limits>

namespace parley::bench {

struct Seconds {
  double cpu = std::numeric_limits<double>::infinity(), wall = std::numeric_limits<double>::infinity();
  void keep_smaller(const Seconds& other) {
    cpu = std::min(cpu, other.cpu);
    wall = std::min(wall, other.wall);
  }
};

class Stopwatch {
 public:
  Seconds read() const {
    return {.cpu = thread_seconds() - cpu_,
            .wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_).count()};
  }

 private:
  static double thread_seconds() {
    std::timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }
  std::chrono::steady_clock::time_point wall_ = std::chrono::steady_clock::now();
  double cpu_ = thread_seconds();
};

}  // namespace parley::bench
