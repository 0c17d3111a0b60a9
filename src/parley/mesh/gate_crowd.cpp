#include "parley/mesh/gate_crowd.h"

#include <algorithm>
#include <map>

namespace parley::mesh {

ConnectionPlace longest_silent(const std::vector<ConnectionPlace>& of) {
  return *std::ranges::min_element(of, {}, [](ConnectionPlace c) { return c->active; });
}

ConnectionPlace one_too_many(const std::vector<ConnectionPlace>& of, const std::set<std::string>& known) {
  const bool spared = std::ranges::any_of(of, [&](ConnectionPlace c) { return !known.contains(c->from); });
  std::map<std::string, int> count;
  for (const ConnectionPlace c : of)
    if (!spared || !known.contains(c->from)) ++count[c->from];
  const int largest = std::ranges::max_element(count, {}, [](const auto& n) { return n.second; })->second;
  std::vector<ConnectionPlace> crowd = of;
  std::erase_if(crowd, [&](ConnectionPlace c) {
    const auto n = count.find(c->from);
    return n == count.end() || n->second < largest;
  });
  return longest_silent(crowd);
}

}  // namespace parley::mesh
