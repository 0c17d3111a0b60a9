#include "parley/party/noise_key_file.h"

#include <openssl/crypto.h>
#include <sys/stat.h>

#include <cerrno>

#include "parley/base/durable.h"
#include "parley/base/error.h"
#include "parley/base/input_file.h"
#include "parley/ledger/error_codes.h"
#include "parley/party/party_folder.h"
#include "parley/record/beside.h"

namespace parley::party {

namespace fs = std::filesystem;
using std::chrono::sys_seconds;

namespace {

constexpr std::size_t noise_key_file_bytes = identity::agreement_key_bytes + 8;

std::string in_eight_bytes(sys_seconds time) {
  std::string bytes;
  const auto count = static_cast<std::uint64_t>(time.time_since_epoch().count());
  for (int shift = 0; shift < 64; shift += 8) bytes += static_cast<char>((count >> shift) & 0xff);
  return bytes;
}

sys_seconds from_eight_bytes(std::string_view bytes) {
  std::uint64_t count = 0;
  for (int k = 7; k >= 0; --k) count = (count << 8) | static_cast<unsigned char>(bytes[static_cast<std::size_t>(k)]);
  return sys_seconds(std::chrono::seconds(static_cast<std::int64_t>(count)));
}

bool lies_there(const fs::path& file) {
  std::error_code unknown;
  return fs::exists(fs::symlink_status(file, unknown));
}

}  // namespace

std::string NoiseKey::payload() const {
  return key.public_key() + in_eight_bytes(deleted_at);
}

std::optional<NoiseKey> read_noise_key(const fs::path& file, sys_seconds now) {
  if (!fs::exists(file)) return std::nullopt;
  struct stat status{};
  if (::stat(file.c_str(), &status) != 0 || (status.st_mode & 077) != 0)
    throw Error({.what = "others may read this party's secret for shared noise",
                 .value = file.string(),
                 .allowed = "mode 0600",
                 .where = "the file beside the record",
                 .fix =
                     "chmod 600 it if nobody has read it; otherwise whoever has counts among the colluders, and this "
                     "party should not go on"});
  const identity::Secret text(InputFile(file, "the secret for shared noise").rest(1 << 12));
  if (text.text().size() != noise_key_file_bytes)
    throw Error({.what = "the file with this party's secret for shared noise is damaged",
                 .value = std::to_string(text.text().size()) + " bytes",
                 .allowed = std::to_string(noise_key_file_bytes) + " bytes",
                 .where = file.string(),
                 .fix = "remove it and agree on a new study: what was spent stays spent"});
  const sys_seconds until = from_eight_bytes(text.text().substr(identity::agreement_key_bytes));
  if (now >= until) {
    delete_noise_key(file);
    return std::nullopt;
  }
  return NoiseKey{*identity::AgreementKey::from(text.text().substr(0, identity::agreement_key_bytes)), until};
}

NoiseKey make_noise_key(const fs::path& file, sys_seconds now) {
  NoiseKey made{identity::AgreementKey::make(), now + noise_key_kept_for};
  std::string bytes;
  bytes.reserve(noise_key_file_bytes);  // grown, it would leave copies behind
  bytes.append(made.key.raw()).append(in_eight_bytes(made.deleted_at));
  const identity::Secret text(std::move(bytes));
  if (!create_file(file, text.text(), 0600) || !sync_folder_of(file))
    throw Error({.what = "this party's secret for shared noise cannot be stored: " + why_not_written(errno),
                 .where = file.string(),
                 .fix = "nothing was released; make room there, or choose another --out"});
  return made;
}

void delete_noise_key(const fs::path& file) {
  std::error_code gone;
  if (fs::remove(file, gone)) sync_folder_of(file);
}

std::optional<NoiseKey> noise_key_of_part(const fs::path& folder, int part, bool has_transcript, sys_seconds now) {
  const fs::path file = record::noise_key_file(folder, part);
  if (has_transcript) return read_noise_key(file, now);
  delete_noise_key(file);
  return make_noise_key(file, now);
}

void refuse_without_noise_key(const fs::path& folder, int part) {
  throw Error({.what = "this party's secret for shared noise is gone, so it can release nothing more in this part of "
                       "the run",
               .value = record::noise_key_file(folder, part).string(),
               .allowed = "the file that this run has made; it is deleted after 30 days, and as soon as this party can "
                          "no longer go on",
               .where = "beside the record",
               .fix = "put it back if it was moved; otherwise agree on a new study: what was spent stays spent",
               .code = ledger::run_closed});
}

void delete_noise_keys(const fs::path& folder) {
  for (const fs::path& file : record::noise_key_files(folder)) {
    delete_noise_key(file);
    if (lies_there(file))
      throw Error({.what = "a secret for shared noise that has served its time cannot be deleted",
                   .where = file.string(),
                   .fix = "remove it by hand: until then whoever reads it counts among the colluders"});
  }
}

std::optional<sys_seconds> noise_key_file_day(const fs::path& file) {
  auto bytes = read_bytes(file, noise_key_file_bytes);
  if (!bytes) return std::nullopt;
  const identity::Secret text(std::move(*bytes));
  if (text.text().size() != noise_key_file_bytes) return std::nullopt;
  return from_eight_bytes(text.text().substr(identity::agreement_key_bytes));
}

std::string in_words(const SweptKey& swept) {
  if (swept.deleted) return swept.file.string() + ": a secret for shared noise was deleted: " + swept.why;
  return swept.file.string() + ": a secret for shared noise should be gone, and cannot be deleted: " + swept.why +
         "; remove it by hand: whoever reads it counts among the colluders";
}

std::vector<SweptKey> sweep_noise_keys(const fs::path& out, sys_seconds now) {
  std::vector<SweptKey> swept;
  for (const record::NoiseKeyPlace& one : record::noise_keys_in(record::place_of(out))) {
    const auto day = noise_key_file_day(one.file);
    const bool past = day && now >= *day;
    if (!past && !has_completed_model(one.folder)) continue;
    delete_noise_key(one.file);
    swept.push_back(
        {.file = one.file, .why = past ? "its day is past" : "its run is complete", .deleted = !lies_there(one.file)});
  }
  return swept;
}

std::shared_ptr<const privacy::PairKeys> pairs_of(const NoiseKey& own, const protocol::NoiseKeys& keys,
                                                  const protocol::Agreement& agreed, int self, int holders) {
  expects(keys.complete(), "everybody's key before noise is shared");
  std::vector<privacy::PairKey> pairs(static_cast<std::size_t>(holders));
  for (int other = 0; other < holders; ++other) {
    if (other == self) continue;
    auto secret =
        own.key.pair_secret(keys.payload(other).substr(0, identity::agreement_key_bytes),
                            {.configuration = agreed.configuration_hash, .run = agreed.run, .i = self, .j = other});
    if (!secret)
      throw Error({.what = agreed.name(other) + "'s key for shared noise is none",
                   .where = "the key that it has signed for this run",
                   .fix = "nothing was released from rows; agree on a new study, without it or with a party that does "
                          "not do this",
                   .code = ledger::run_closed});
    pairs[static_cast<std::size_t>(other)] = *secret;
    OPENSSL_cleanse(secret->data(), secret->size());
  }
  if (const auto odd = keys.out_of_time())
    throw Error({.what = agreed.name(*odd) + " announces that it keeps its secret for shared noise for longer than all "
                                             "may, or has deleted it before the others made theirs",
                 .value = "until second " + std::to_string(protocol::noise_key_day(keys.payload(*odd))) + " since 1970",
                 .allowed = std::to_string(protocol::noise_key_spread / 86400) + " days before or after second " +
                            std::to_string(protocol::noise_key_day(keys.payload(keys.middle()))) +
                            ", the middle of what all have announced",
                 .where = "the key that it has signed for this run",
                 .fix = "nothing was released from rows; have the clock there looked at, then agree on a new study",
                 .code = ledger::run_closed});
  return std::make_shared<const privacy::AgreedPairs>(self, std::move(pairs));
}

}  // namespace parley::party
