// NoiseKeys, and what Exchange does with them.
#include "parley/protocol/noise_keys.h"

#include <algorithm>
#include <vector>

#include "parley/base/error.h"
#include "parley/protocol/exchange.h"

namespace parley::protocol {

std::uint64_t noise_key_day(std::string_view payload) {
  expects(payload.size() == noise_key_bytes, "a payload that was inspected");
  std::uint64_t day = 0;
  for (std::size_t k = noise_key_bytes; k > noise_key_bytes - 8; --k)
    day = (day << 8) | static_cast<unsigned char>(payload[k - 1]);
  return day;
}

int NoiseKeys::middle() const {
  expects(complete() && wanted_ > 0, "everybody's key");
  std::vector<std::pair<std::uint64_t, int>> days;
  for (const auto& [node, payload] : payloads_) days.emplace_back(noise_key_day(payload), node);
  const auto half = days.begin() + static_cast<std::ptrdiff_t>(days.size() / 2);
  std::ranges::nth_element(days, half);
  return half->second;
}

std::optional<int> NoiseKeys::out_of_time() const {
  const std::uint64_t middle_day = noise_key_day(payload(middle()));
  for (const auto& [node, payload] : payloads_) {
    const std::uint64_t day = noise_key_day(payload);
    if (std::max(day, middle_day) - std::min(day, middle_day) > noise_key_spread) return node;
  }
  return std::nullopt;
}

Finding NoiseKeys::judge(const Message& m) const {
  const auto before = payloads_.find(m.node);
  if (before == payloads_.end()) return {Verdict::accepted, ""};
  if (before->second == m.payload) return {Verdict::duplicate, ""};
  return {Verdict::second_value,
          "another key for shared noise than the one stored: " + m.sender + " contradicts itself"};
}

void NoiseKeys::add(const Message& m, std::string bytes) {
  if (!has(m.node)) order_.push_back(m.node);
  payloads_[m.node] = m.payload;
  bytes_[m.node] = std::move(bytes);
}

// Privacy: the owner has stored its secret part before. It is signed once in a part, so that nobody, a later process of
// this party included, ever uses another one: the noise of a pair would not cancel, and its streams would serve twice.
void Exchange::give_noise_key(const std::string& own) {
  if (!agreed_.shared_noise) return;
  const bool signed_before = noise_keys_.has(self_);
  if (signed_before && !own.empty() && noise_keys_.payload(self_) != own)
    throw Error({.what = "the key for shared noise is not the one that this party has signed in this part of the run",
                 .where = transcript_->name(),
                 .fix =
                     "if the record or the file OUT.noise-key was moved, put it back where it was; if one of them is "
                     "lost, agree on a new study: what was spent stays spent"});
  if (signed_before || own.empty()) return;
  if (last_released_ > 0)
    throw Error(
        {.what = "the transcript is older than the ledger: rounds were released, and this party's key for "
                 "shared noise is not in it",
         .where = transcript_->name(),
         .fix = "put back the newest copy of the transcript, or agree on a new study: what was spent stays spent"});
  const Message m = made(Kind::noise_key, -1, own);
  const std::string bytes = encode(m);
  transcript_->append(Transcript::Entry::sent, bytes);
  transcript_->sync();
  noise_keys_.add(m, bytes);
}

Receipt Exchange::on_noise_key(const Message& m, std::string_view bytes, Link& from) {
  Finding finding = processes_.judge_passed_on(m);
  if (finding.verdict == Verdict::accepted) finding = noise_keys_.judge(m);
  if (contradicts(finding.verdict)) return contradicted(m, finding, bytes);
  if (finding.verdict == Verdict::accepted) {
    transcript_->append(Transcript::Entry::received, bytes);
    transcript_->sync();
    noise_keys_.add(m, std::string(bytes));
    if (from.node == m.node) from.progressed(now_);
  }
  from.noise_keys.insert(m.node);
  return {.verdict = finding.verdict};
}

// Trap: each key is looked at once. Where all were looked at for each message, 10,000 parties took 10^8 looks a neighbour.
void Exchange::settle_noise_keys(Link& link) const {
  const auto& stored = noise_keys_.order();
  const auto settled = [&](int whose) {
    return link.noise_keys.contains(whose) || (whose != self_ && !passed_on_.goes_to(whose, link.node));
  };
  while (link.settled_noise_keys < stored.size() && settled(stored[link.settled_noise_keys])) ++link.settled_noise_keys;
}

}  // namespace parley::protocol
