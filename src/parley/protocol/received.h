// What those have released whom this node hears, as far as it is stored here: one value per (node, round), in order.
// A different second one is equivocation (R3). Memory: a head per round, and values until they are taken.
#pragma once
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "parley/privacy/release.h"
#include "parley/protocol/agreement.h"
#include "parley/protocol/last_words.h"
#include "parley/protocol/message.h"

namespace parley::protocol {

class Received {
 public:
  Received(const Agreement& agreed, int self);

  // Of a value or silence that passed inspection: accepted (it is the next of its sender's), duplicate or refused.
  // own_released: the last round of this node's. Its sender needs it for the round after, so it can be no further.
  Finding judge(const Message& m, int own_released) const;
  // A hello: its sender's releases must reach round at_least, and be those that are stored here (R7).
  Finding judge_hello(const Message& m, int at_least) const;
  // A final iterate, or a seal, claims the head of everything that its origin released, and the first is computed from
  // that; a neighbour of the origin knows better.
  Finding judge_final(const Message& m) const;

  // What was judged to be accepted, once it is stored; or what the transcript has. False: it does not fit.
  bool add(const Message& m, std::string_view bytes);
  void add_final(const Message& m);

  bool hears(int node) const { return peers_.contains(node); }
  Seen seen(int node) const;  // the last round of its that is stored
  Digest head(int node, int round) const { return peers_.at(node).heads[static_cast<std::size_t>(round)]; }  // stored
  const std::string& last_message(int node) const { return peers_.at(node).bytes; }  // with that round
  bool complete(int round) const;  // everybody's value of it is stored
  privacy::Inbox take(int round);  // in order, each round once; ordered by node number

 private:
  struct Peer {
    std::vector<Digest> heads{};             // by round
    std::deque<privacy::Released> values{};  // the last ones, not yet taken
    std::string bytes{};                     // of the last one, signed
    MeanOfReleases mean;                     // as far as it has released, where that can be computed
    std::optional<Message> final_iterate{};  // as it claims
    int last() const { return static_cast<int>(heads.size()) - 1; }
  };
  Digest head_through(const Peer& peer, const Message& m) const;
  bool follows(const Message& final_iterate, const MeanOfReleases& from) const;

  std::string run_;
  bool recomputes_;
  int rounds_;
  std::map<int, Peer> peers_;  // by node number
  int taken_ = -1;
};

}  // namespace parley::protocol
