// Counts what a solve takes from the heap. Not in a build with sanitizers, which have their own malloc.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>

#include "parley/problem/rows_test.h"
#include "parley/problem/solve.h"

namespace {
std::atomic<long> taken{0};
}

extern "C" void* __libc_malloc(std::size_t size);
extern "C" void* malloc(std::size_t size) {
  ++taken;
  return __libc_malloc(size);
}

namespace parley::problem {
namespace {

TEST(Allocation, ASolveTakesNothingFromTheHeapButItsResult) {
  for (const double filled : {0.3, 1.0}) {
    const Rows rows = random_rows(20000, 40, filled, 3);
    const Problem p{.rows = &rows, .weight = 0.5, .regularization = 0.1};
    const Proximal terms{.linear = Vector::LinSpaced(40, -30, 30), .quadratic = 2};
    const Vector start = Vector::Zero(40);
    const auto count = [&](double tolerance) {
      const long before = taken;
      const int steps = argmin(p, terms, start, {.tolerance = tolerance}).iterations;
      const long during = taken - before;
      EXPECT_GT(steps, 1);
      return during;
    };
    count(1e-7);  // room grows
    EXPECT_LE(count(1e-7), 4);
    EXPECT_EQ(count(1e-1), count(1e-7));  // more steps take no more
  }
}

}  // namespace
}  // namespace parley::problem
