// The secret of a party for the noise that it shares with others in one part of a run (identity/pair_agreement.h): the only
// secret besides its key that a party keeps on a disk. It lies beside the folder, which others may be given, with mode 0600,
// is stored before its public part is signed, and is deleted when the part ends, or after 30 days in which it did not.
// Privacy: whoever reads it counts among the colluders of its party.
#pragma once
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "parley/identity/pair_agreement.h"
#include "parley/privacy/pair_noise.h"
#include "parley/protocol/noise_keys.h"

namespace parley::party {

struct NoiseKey {
  identity::AgreementKey key;
  std::chrono::sys_seconds deleted_at;
  std::string payload() const;  // for the others: its public part, and when it is deleted
};

// Of part n of the run whose folder this is.
std::filesystem::path noise_key_file(const std::filesystem::path& folder, int part);

// The one that is stored. Error: it is damaged, or others may read it. nullopt: there is none; one past its day is deleted.
std::optional<NoiseKey> read_noise_key(const std::filesystem::path& file, std::chrono::sys_seconds now);
NoiseKey make_noise_key(const std::filesystem::path& file, std::chrono::sys_seconds now);  // and stores it, synced
void delete_noise_key(const std::filesystem::path& file);

// What this node shares with each of the first `holders` nodes. Error: a key of theirs is none.
std::shared_ptr<const privacy::PairKeys> pairs_of(const NoiseKey& own, const protocol::NoiseKeys& keys,
                                                  const protocol::Agreement& agreed, int self, int holders);

}  // namespace parley::party
