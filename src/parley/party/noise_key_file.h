// The secret of a party for the noise that it shares with others in one part of a run (identity/pair_agreement.h): the only
// secret besides its key that a party keeps on a disk. It lies beside the folder, which others may be given, with mode 0600,
// is stored before its public part is signed, and is deleted when the part has ended for good, or after 30 days in which it
// has not: by the party that is at work, and by any later start beside it, whatever refuses that start.
// Privacy: whoever reads it, or a backup of it, counts among the colluders of its party.
#pragma once
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parley/identity/pair_agreement.h"
#include "parley/privacy/pair_noise.h"
#include "parley/protocol/noise_keys.h"

namespace parley::party {

struct NoiseKey {
  identity::AgreementKey key;
  std::chrono::sys_seconds deleted_at;
  std::string payload() const;  // for the others: its public part, and when it is deleted
};

inline constexpr auto noise_key_kept_for = std::chrono::days(30);

// The one that is stored. Error: it is damaged, or others may read it. nullopt: there is none; one past its day is deleted.
std::optional<NoiseKey> read_noise_key(const std::filesystem::path& file, std::chrono::sys_seconds now);
NoiseKey make_noise_key(const std::filesystem::path& file, std::chrono::sys_seconds now);  // and stores it, synced
void delete_noise_key(const std::filesystem::path& file);
// Of all parts of the run whose folder this is, or was. Error: one of them stays.
void delete_noise_keys(const std::filesystem::path& folder);

// The key of this part. Where there is a transcript and no key, it was deleted or lost: nobody makes another one for a part
// in which the first may have been used (nullopt).
// Privacy: where there is a key and no transcript, it is of an earlier start. The same study begun once more has the same
// run, and the streams of that key have served: they would hide other rows too. It is deleted, and another one made.
std::optional<NoiseKey> noise_key_of_part(const std::filesystem::path& folder, int part, bool has_transcript,
                                          std::chrono::sys_seconds now);
[[noreturn]] void refuse_without_noise_key(const std::filesystem::path& folder, int part);

struct SweptKey {
  std::filesystem::path file;
  std::string why;      // in words: what it was of
  bool deleted = true;  // false: it could not be
};
std::string in_words(const SweptKey& swept);
// Deletes what must not lie any longer where this party keeps its records (`out`: a folder there, which need not exist):
// every secret past its day, and every one of a run whose record is complete. Nothing of it is an Error: it stands before
// all that may refuse a start.
std::vector<SweptKey> sweep_noise_keys(const std::filesystem::path& out, std::chrono::sys_seconds now);
// When the one in this file is to be deleted. nullopt: it is damaged, or cannot be read.
std::optional<std::chrono::sys_seconds> noise_key_file_day(const std::filesystem::path& file);

// What this node shares with each of the first `holders` nodes. Error: a key of theirs is none, or one that is kept for
// longer than the others'.
std::shared_ptr<const privacy::PairKeys> pairs_of(const NoiseKey& own, const protocol::NoiseKeys& keys,
                                                  const protocol::Agreement& agreed, int self, int holders);

}  // namespace parley::party
