#include "parley/protocol/agreement.h"

#include <algorithm>

namespace parley::protocol {

std::optional<int> Agreement::node_of(const std::string& name) const {
  const auto found = std::ranges::find(parties, name);
  if (found == parties.end()) return std::nullopt;
  return static_cast<int>(found - parties.begin());
}

std::string owner_of(const Agreement& agreed, int self) {
  return "run " + agreed.run + " configuration " + agreed.configuration_hash + " party " + agreed.name(self);
}

}  // namespace parley::protocol
