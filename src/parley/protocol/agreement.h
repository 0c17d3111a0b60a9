// What all parties know and agree on before round 1, and the keys by which they know each other.
#pragma once
#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/vector.h"
#include "parley/network/graph.h"

namespace parley::protocol {

struct Agreement {
  std::string run;                   // its id
  std::string configuration;         // canonical text: what a peer with another one is answered
  std::string configuration_hash;    // in every message
  std::vector<std::string> parties;  // names by node number, as in the certificates
  network::Graph graph;              // who calls whom
  bool passed_on = false;            // values go to everybody, through others where two do not call each other
  bool shared_noise = false;         // each two parties share noise: nobody reads rows before all keys are here
  Index dimension = 0;               // of the model, and of a final iterate
  Index largest_size = 0;            // numbers in the longest value
  int rounds = 0;                    // the last one; 0 is the start
  double release_bound = 1000;
  std::function<Index(int node, int round)> size;   // numbers in a value; 0: silent, the other side's turn in a star
  std::function<double(int node, int round)> grid;  // released coordinates are multiples of this power of two
  std::vector<int> model_of;  // whose final iterates make the model: all peers', or the trainer's; ascending
  // The rounds whose values count in a final iterate, so that its neighbours can compute it again. Empty: they cannot,
  // some of them were released in an earlier part.
  std::function<bool(int round)> counts{};
  int turn = 1;  // rounds after which a part may end: 2 where kinds of rounds alternate
  std::optional<int> trainer{};

  int nodes() const { return graph.nodes(); }
  std::vector<int> heard_by(int node) const { return network::heard_by(graph, passed_on, node); }
  bool speaks(int node, int round) const { return size(node, round) > 0; }
  const std::string& name(int node) const { return parties[static_cast<std::size_t>(node)]; }
  std::optional<int> node_of(const std::string& who) const {
    const auto found = std::ranges::find(parties, who);
    return found == parties.end() ? std::nullopt : std::optional(static_cast<int>(found - parties.begin()));
  }
};

// sign: by this party's key; two signatures of the same bytes may differ. verify: by the key that the roster pins.
struct Keys {
  std::function<std::string(std::string_view bytes)> sign;
  std::function<bool(int node, std::string_view bytes, std::string_view signature)> verify;
  // Names the first field in which two canonical configurations differ, with both values.
  std::function<std::string(const std::string& mine, const std::string& theirs, const std::string& who)> difference;
};

// As a transcript names whose it is.
inline std::string owner_of(const Agreement& agreed, int self) {
  return "run " + agreed.run + " configuration " + agreed.configuration_hash + " party " + agreed.name(self);
}

}  // namespace parley::protocol
