// Time by the wall, and of the processor alone: of one thread's work, or of the process with all its threads. On an
// idle machine one thread's two times agree; on a shared one the wall also counts whoever else ran, so comparisons use
// the processor's.
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
  enum class Of { thread, process };
  explicit Stopwatch(Of of = Of::thread)
      : clock_(of == Of::thread ? CLOCK_THREAD_CPUTIME_ID : CLOCK_PROCESS_CPUTIME_ID) {}

  Seconds read() const {
    return {.cpu = cpu_seconds(clock_) - cpu_,
            .wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_).count()};
  }

 private:
  static double cpu_seconds(clockid_t clock) {
    std::timespec t{};
    clock_gettime(clock, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }
  clockid_t clock_;
  std::chrono::steady_clock::time_point wall_ = std::chrono::steady_clock::now();
  double cpu_ = cpu_seconds(clock_);
};

}  // namespace parley::bench
