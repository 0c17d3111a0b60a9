// Signed messages that everybody needs, on a graph on which not everybody calls everybody. The sender gives its message
// to its neighbours; a party that has stored one passes it on to each of its own neighbours that is neither the sender
// nor a neighbour of the sender's. So it reaches everybody, once by each way, and on a complete graph nothing is passed
// on. What is wrong with it the receiver sees by itself: the sender is who signed.
#pragma once
#include <compare>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "parley/protocol/agreement.h"
#include "parley/protocol/message.h"

namespace parley::protocol {

class PassedOn {
 public:
  struct Key {  // one message of a party's; older rounds come first
    int round = -1;
    int node = -1;
    Kind kind = Kind::value;
    auto operator<=>(const Key&) const = default;
  };
  static Key key(const Message& m) { return {.round = m.round, .node = m.node, .kind = m.kind}; }

  PassedOn(const Agreement& agreed, int self) : agreed_(agreed), self_(self) {}

  void add(const Message& m, std::string bytes);  // stored here, and synced

  using Has = std::function<bool(int neighbour, const Key& key)>;
  // The next that this neighbour should get; null: nothing.
  const std::pair<const Key, std::string>* next_for(int neighbour, const Has& has) const;
  // Drops what all have to whom it goes. The last two rounds are kept: a neighbour may come back without them.
  void drop(const Has& has);
  bool goes_to(int sender, int neighbour) const;  // what this sender has signed
  int oldest() const;                             // round of which something may have to be passed on

 private:
  std::vector<int> goes_to(int sender) const;

  const Agreement& agreed_;
  int self_;
  int newest_ = 0;  // round
  std::map<Key, std::string> messages_;
};

}  // namespace parley::protocol
