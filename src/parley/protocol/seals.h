// The last word of each party: the head of its own releases, and a digest of all final iterates as it has them, signed and
// flooded. A run is complete where every party's seal is here and all say the same (R15): then every party that is honest
// has, or will never have another than, the same model. Without them a party in the middle could show each side another
// final iterate, and both would call the run complete.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "parley/protocol/agreement.h"
#include "parley/protocol/message.h"

namespace parley::protocol {

class Seals {
 public:
  explicit Seals(const Agreement& agreed) : parties_(agreed.nodes()) {}

  // Of a message that passed inspection: accepted (the first of its sender's), duplicate, or a second, different one.
  Finding judge(const Message& m) const;
  void add(const Message& m, std::string bytes);

  bool has(int node) const { return seals_.contains(node); }
  std::optional<Digest> head(int node) const;  // of its releases, as its seal has it; nullopt: not here
  bool complete() const { return static_cast<int>(seals_.size()) == parties_; }
  // Whose seal is not this one; −1: nobody's, of those that are here.
  int other_than(const std::string& payload) const;

  const std::map<int, std::string>& messages() const { return bytes_; }  // by sender: the signed bytes

 private:
  struct Seal {
    Digest head;
    std::string payload;
  };
  int parties_;
  std::map<int, Seal> seals_;
  std::map<int, std::string> bytes_;
};

}  // namespace parley::protocol
