#include "parley/network/together.h"

#include <algorithm>

namespace parley::network {

void together(Ranks& ranks, const std::function<void()>& work) {
  if (ranks.count() == 1) {
    work();
    return;
  }
  std::string failure;
  try {
    work();
  } catch (const Error& e) {
    failure = e.what();
  }
  const auto failures = ranks.texts(failure);
  const auto first = std::ranges::find_if(failures, [](const std::string& f) { return !f.empty(); });
  if (first == failures.end()) return;
  const bool everywhere = std::ranges::all_of(failures, [&](const std::string& f) { return f == *first; });
  const std::string rank = everywhere ? "" : "rank " + std::to_string(first - failures.begin()) + ": ";
  throw Agreed({.what = rank + *first});
}

}  // namespace parley::network
