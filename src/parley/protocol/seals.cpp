#include "parley/protocol/seals.h"

namespace parley::protocol {

Finding Seals::judge(const Message& m) const {
  const auto before = seals_.find(m.node);
  if (before == seals_.end()) return {Verdict::accepted, ""};
  if (before->second.head == m.head && before->second.payload == m.payload) return {Verdict::duplicate, ""};
  return {Verdict::second_value, "a seal that is not the one stored: " + m.sender + " contradicts itself"};
}

void Seals::add(const Message& m, std::string bytes) {
  seals_[m.node] = {m.head, m.payload};
  bytes_[m.node] = std::move(bytes);
}

std::optional<Digest> Seals::head(int node) const {
  const auto found = seals_.find(node);
  if (found == seals_.end()) return std::nullopt;
  return found->second.head;
}

int Seals::other_than(const std::string& payload) const {
  for (const auto& [node, seal] : seals_)
    if (seal.payload != payload) return node;
  return -1;
}

}  // namespace parley::protocol
