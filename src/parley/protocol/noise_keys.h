// The public keys by which two parties find the noise that cancels between them (docs/proofs/shared-noise.md, section 3):
// one of each party in each part, signed and passed on to all. Nothing is released from rows before all are here, since a
// missing pair lowers everybody's noise; and a second key of a party's is a contradiction like a second value.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/protocol/agreement.h"
#include "parley/protocol/message.h"

namespace parley::protocol {

inline constexpr std::size_t noise_key_bytes =
    40;  // X25519 public key 32 ‖ seconds since 1970 at which it is deleted 8

// Seconds since 1970 at which its owner deletes the secret part, as it stands in a payload.
std::uint64_t noise_key_day(std::string_view payload);
// A key is kept for 30 days, so that all of a run are made within 30 days; one more for clocks that differ.
inline constexpr std::uint64_t noise_key_spread = std::uint64_t{31} * 86400;

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

  // Whose key is announced to be deleted in the middle of all; with more honest parties than others it is between theirs.
  int middle() const;
  // Of complete keys: a party whose announced day is further than noise_key_spread from the middle one; nullopt: nobody.
  // By signed bytes and no clock: all parties judge alike, and so does whoever verifies.
  std::optional<int> out_of_time() const;

  const std::vector<int>& order() const { return order_; }                // senders, as their keys were stored
  const std::string& message(int node) const { return bytes_.at(node); }  // the signed bytes

 private:
  int wanted_;
  std::map<int, std::string> payloads_, bytes_;  // by sender
  std::vector<int> order_;
};

}  // namespace parley::protocol
