#include "parley/protocol/passed_on.h"

#include <algorithm>

namespace parley::protocol {

std::vector<int> PassedOn::goes_to(int sender) const {
  const auto& told = agreed_.graph.neighbours(sender);  // by the sender itself
  std::vector<int> to;
  for (const int node : agreed_.graph.neighbours(self_))
    if (node != sender && !std::ranges::binary_search(told, node)) to.push_back(node);
  return to;
}

void PassedOn::add(const Message& m, std::string bytes) {
  newest_ = std::max(newest_, m.round);
  if (!goes_to(m.node).empty()) messages_[key(m)] = std::move(bytes);
}

const std::pair<const PassedOn::Key, std::string>* PassedOn::next_for(int neighbour, const Has& has) const {
  const auto found = std::ranges::find_if(messages_, [&](const auto& one) {
    return std::ranges::binary_search(goes_to(one.first.node), neighbour) && !has(neighbour, one.first);
  });
  return found == messages_.end() ? nullptr : &*found;
}

int PassedOn::oldest() const {
  return messages_.empty() ? newest_ - 1 : std::min(newest_ - 1, messages_.begin()->first.round);
}

void PassedOn::drop(const Has& has) {
  std::erase_if(messages_, [&](const auto& one) {
    return one.first.round < newest_ - 1 &&
           std::ranges::all_of(goes_to(one.first.node), [&](int node) { return has(node, one.first); });
  });
}

}  // namespace parley::protocol
