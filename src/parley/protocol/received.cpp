#include "parley/protocol/received.h"

#include <algorithm>

#include "parley/base/error.h"

namespace parley::protocol {

Received::Received(const Agreement& agreed, int self)
    : run_(agreed.run), recomputes_(static_cast<bool>(agreed.counts)), rounds_(agreed.rounds) {
  for (const int node : agreed.heard_by(self)) peers_.emplace(node, Peer{.mean = MeanOfReleases(agreed.counts)});
}

// The head of its sender's releases if this is its value for m.round; that round is at most one ahead of what is here.
Digest Received::head_through(const Peer& peer, const Message& m) const {
  const Digest before = m.round == 0 ? Digest{} : peer.heads[static_cast<std::size_t>(m.round) - 1];
  return next_head(before, run_, m.node, m.round, m.payload);
}

Finding Received::judge(const Message& m, int own_released) const {
  const Peer& peer = peers_.at(m.node);
  const std::string round = std::to_string(m.round);
  if (m.round > peer.last() + 1)
    return {Verdict::future_round, round + ", but " + std::to_string(peer.last() + 1) + " is awaited"};
  const Digest head = head_through(peer, m);
  if (m.round <= peer.last()) {
    if (head != peer.heads[static_cast<std::size_t>(m.round)] || head != m.head)
      return {Verdict::second_value,
              "a value for round " + round + " that is not the one stored: " + m.sender + " contradicts itself"};
    return {Verdict::duplicate, ""};
  }
  if (m.round > own_released + 1)
    return {Verdict::future_round,
            round + ", which takes round " + std::to_string(m.round - 1) + " of this node, and that is not released"};
  if (m.head != head)
    return {Verdict::other_history, "with round " + round + " " + m.sender +
                                        " has released something else than what is stored here: it contradicts itself"};
  if (m.round == rounds_ && peer.final_iterate) {
    MeanOfReleases mean = peer.mean;
    if (recomputes_) mean.add(m.round, *vector_of(m.payload));
    if (peer.final_iterate->head != head || !follows(*peer.final_iterate, mean))
      return {Verdict::second_value,
              "the last value is not the one that the final iterate follows from: " + m.sender + " contradicts itself"};
  }
  return {Verdict::accepted, ""};
}

Finding Received::judge_hello(const Message& m, int at_least) const {
  const Peer& peer = peers_.at(m.node);
  const std::string older = "the ledger of " + m.sender + " is older than what it has released: ";
  if (m.round < at_least)
    return {Verdict::ledger_behind, older + "it ends with round " + std::to_string(m.round) + ", and round " +
                                        std::to_string(at_least) + " is stored here"};
  if (m.round >= 0 && m.round <= peer.last() && m.head != peer.heads[static_cast<std::size_t>(m.round)])
    return {Verdict::ledger_behind, older + "it has another round " + std::to_string(m.round) + " than is stored here"};
  return {Verdict::accepted, ""};
}

Finding Received::judge_final(const Message& m) const {
  const auto peer = peers_.find(m.node);
  if (peer == peers_.end() || peer->second.last() < rounds_) return {Verdict::accepted, ""};
  if (peer->second.heads.back() != m.head)
    return {Verdict::other_history, m.sender + " claims other releases than those stored here: it contradicts itself"};
  if (m.kind == Kind::final_iterate && !follows(m, peer->second.mean))
    return {Verdict::second_value,
            "a final iterate that does not follow from its releases: " + m.sender + " contradicts itself"};
  return {Verdict::accepted, ""};
}

// The same sums in the same order: the same bits.
bool Received::follows(const Message& final_iterate, const MeanOfReleases& from) const {
  return !recomputes_ || payload_of(from.value()) == final_iterate.payload;
}

bool Received::add(const Message& m, std::string_view bytes) {
  const auto found = peers_.find(m.node);
  auto value = vector_of(m.payload);
  if (found == peers_.end() || m.round != found->second.last() + 1 || !value) return false;
  Peer& peer = found->second;
  const Digest head = head_through(peer, m);
  if (head != m.head) return false;
  if (recomputes_) peer.mean.add(m.round, *value);
  peer.bytes = bytes;
  peer.heads.push_back(head);
  peer.values.push_back(std::make_shared<const Vector>(std::move(*value)));
  return true;
}

void Received::add_final(const Message& m) {
  const auto peer = peers_.find(m.node);
  if (peer != peers_.end()) peer->second.final_iterate = m;
}

Seen Received::seen(int node) const {
  const Peer& peer = peers_.at(node);
  return {.round = peer.last(), .head = peer.heads.empty() ? Digest{} : peer.heads.back()};
}

bool Received::complete(int round) const {
  return std::ranges::all_of(peers_, [=](const auto& peer) { return peer.second.last() >= round; });
}

privacy::Inbox Received::take(int round) {
  expects(complete(round) && round == taken_ + 1, "the inbox of the next round, complete");
  privacy::Inbox inbox;
  for (auto& [node, peer] : peers_) {
    inbox.push_back(std::move(peer.values.front()));
    peer.values.pop_front();
  }
  taken_ = round;
  return inbox;
}

}  // namespace parley::protocol
