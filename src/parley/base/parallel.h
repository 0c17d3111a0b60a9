// Runs body(0) … body(count − 1) on several threads. Each index is an independent piece of work with its own output, so
// the result does not depend on the number of threads; reductions are done by the caller, in index order.
#pragma once
#include <functional>

namespace parley {

void parallel_for(int count, int threads, const std::function<void(int)>& body);

// How many threads the work on this thread may use itself: what parallel_for left over for each of its bodies, 1
// outside.
int spare_threads();

}  // namespace parley
