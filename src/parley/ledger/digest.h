// What the ledger's chain is made with, and the keyed fingerprint of rows.
#pragma once
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "parley/base/digest.h"

namespace parley::ledger {

using Key = std::array<unsigned char, 32>;

std::string random_hex(int bytes);  // for names that must not collide; not for noise

// HMAC-SHA256 of rows under a key that stays on this machine: a plain hash would confirm a guessed record.
// Privacy: text() is for the owner's own ledger and is never sent.
class Fingerprint {
 public:
  explicit Fingerprint(const std::optional<Key>& key);  // without a key every text is empty: unknown
  void add(std::string_view bytes);
  std::string text();  // "<key id>:<hmac>"; ends the fingerprint

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// The key beside the ledger, mode 0600.
std::optional<Key> read_key(const std::filesystem::path& file);  // nullopt: not there, or not a key
void create_key(const std::filesystem::path& file);              // keeps one that is there
std::string key_id(const Key& key);

}  // namespace parley::ledger
