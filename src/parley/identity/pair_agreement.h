// A secret that two parties alone can compute, from keys that live as long as one part of a run (RFC 7748, RFC 5869):
//   key of i and j = HKDF-SHA256(salt = configuration hash, secret = X25519(own, other's public),
//                                info = "parley pair 1" ‖ |run| 8 ‖ run ‖ min(i, j) 8 ‖ max(i, j) 8)
// The run is that of the part, so another part has other keys even where somebody reused an agreement key.
// Privacy: whoever has an agreement key can compute what its party shares with all others (docs/proofs/shared-noise.md).
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "parley/identity/secret.h"

namespace parley::identity {

inline constexpr std::size_t agreement_key_bytes = 32;
using PairSecret = std::array<unsigned char, 32>;

// What both of a pair know besides their keys. configuration: its hash. i, j: node numbers of the part.
struct PairName {
  std::string_view configuration, run;
  int i = 0, j = 0;
};

class AgreementKey {
 public:
  static AgreementKey make();                                     // fresh, from OpenSSL's generator
  static std::optional<AgreementKey> from(std::string_view raw);  // nullopt: not 32 bytes
  std::string_view raw() const { return secret_.text(); }         // for a file of its owner's alone
  const std::string& public_key() const { return public_; }

  // nullopt: not 32 bytes, or a point of low order, with which the secret would be known to everybody.
  std::optional<PairSecret> pair_secret(std::string_view others_public_key, const PairName& name) const;

 private:
  AgreementKey(Secret secret, std::string public_key);
  Secret secret_;
  std::string public_;
};

// RFC 5869, 32 bytes of it.
PairSecret hkdf_sha256(std::string_view salt, std::string_view secret, std::string_view info);

}  // namespace parley::identity
