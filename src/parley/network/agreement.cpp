#include "parley/network/agreement.h"

#include <algorithm>

namespace parley::network {

std::optional<int> Agreement::node_of(const std::string& name) const {
  const auto found = std::ranges::find(parties, name);
  if (found == parties.end()) return std::nullopt;
  return static_cast<int>(found - parties.begin());
}

}  // namespace parley::network
