// The public keys by which two parties find the noise that cancels between them (docs/proofs/shared-noise.md, section 3):
// one of each party in each part, signed and passed on to all. Nothing is released from rows before all are here, since a
// missing pair lowers everybody's noise; and a second key of a party's is a contradiction like a second value.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "parley/protocol/agreement.h"
#include "parley/protocol/message.h"

namespace parley::protocol {

inline constexpr std::size_t noise_key_bytes =
    40;  // X25519 public key 32 ‖ seconds since 1970 at which it is deleted 8

class NoiseKeys {
 public:
  explicit NoiseKeys(const Agreement& agreed) : wanted_(agreed.shared_noise ? agreed.nodes() : 0) {}

  // Of a message that passed inspection: accepted (the first of its sender's), duplicate, or a second, different one.
  Finding judge(const Message& m) const;
  void add(const Message& m, std::string bytes);

  bool has(int node) const { return payloads_.contains(node); }
  bool lacks(int node) const { return wanted_ > 0 && !has(node); }
  bool complete() const { return static_cast<int>(payloads_.size()) == wanted_; }
  const std::string& payload(int node) const { return payloads_.at(node); }

  const std::vector<int>& order() const { return order_; }                // senders, as their keys were stored
  const std::string& message(int node) const { return bytes_.at(node); }  // the signed bytes

 private:
  int wanted_;
  std::map<int, std::string> payloads_, bytes_;  // by sender
  std::vector<int> order_;
};

}  // namespace parley::protocol
