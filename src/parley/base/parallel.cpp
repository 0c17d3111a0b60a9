#include "parley/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

namespace parley {
namespace {

thread_local int spare = 1;

}  // namespace

int spare_threads() {
  return spare;
}

namespace {

class Spare {  // for as long as it lives
 public:
  explicit Spare(int share) : before_(std::exchange(spare, share)) {}
  ~Spare() { spare = before_; }
  Spare(const Spare&) = delete;
  Spare& operator=(const Spare&) = delete;

 private:
  int before_;
};

}  // namespace

void parallel_for(int count, int threads, const std::function<void(int)>& body) {
  const int share = std::max(1, threads / std::max(1, std::min(threads, count)));
  if (count <= 1 || threads <= 1) {
    const Spare mine(share);
    for (int i = 0; i < count; ++i) body(i);
    return;
  }
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(count));
  std::atomic<int> next{0};
  const auto work = [&] {
    const Spare mine(share);
    for (int i = next++; i < count; i = next++) {
      try {
        body(i);
      } catch (...) {
        failures[static_cast<std::size_t>(i)] = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (int t = 1; t < std::min(threads, count); ++t) helpers.emplace_back(work);
    work();
  }
  for (const auto& failure : failures)  // the failure of the lowest index, whatever the timing
    if (failure) std::rethrow_exception(failure);
}

}  // namespace parley
