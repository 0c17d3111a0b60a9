// One connection at a gate: what it may read, what waits on its way, and since when.
#pragma once
#include <algorithm>
#include <array>
#include <chrono>
#include <string>

#include "parley/base/durable.h"

namespace parley::mesh {

using GateClock = std::chrono::steady_clock;

inline double seconds_since(GateClock::time_point then, GateClock::time_point now) {
  return std::chrono::duration<double>(now - then).count();
}

// So many bytes per second in the long run, and so many at once.
class ByteRate {
 public:
  ByteRate(double rate, double burst, GateClock::time_point now)
      : rate_(rate), burst_(burst), left_(burst), filled_(now) {}
  void refill(GateClock::time_point now) {
    left_ = std::min(burst_, left_ + rate_ * seconds_since(filled_, now));
    filled_ = now;
  }
  void take(long bytes) { left_ -= static_cast<double>(bytes); }
  double left() const { return left_; }

 private:
  double rate_, burst_, left_;
  GateClock::time_point filled_;
};

// What was read on one side and not yet written on the other.
class Waiting {
 public:
  bool empty() const { return begin_ == end_; }
  void forget() { begin_ = end_ = 0; }
  long fill(int socket, std::size_t most);  // bytes read, 0: the other side has closed, −1: nothing to read now
  long drain(int socket);                   // bytes written, −1: nobody reads there any more

 private:
  std::array<char, 1 << 14> bytes_;
  std::size_t begin_ = 0, end_ = 0;
};

struct Connection {
  Descriptor outer, inner;  // to whoever connected; to whom it was handed on
  std::string from;         // its address, without the port
  int place;                // by which it is admitted; −1: it has been
  GateClock::time_point opened, active;
  GateClock::time_point taken;  // when nothing waited to be written to it the last time
  ByteRate own;                 // while it is a stranger's
  std::string party{};          // whose it is, by its certificate; empty: a stranger's
  double unanswered = 0;        // bytes read since the last one that was written to it
  bool ending = false;          // the inner side has closed: what it wrote last still goes out
  Waiting in{}, out{};

  bool is_stranger() const { return party.empty() || ending; }
};

}  // namespace parley::mesh
