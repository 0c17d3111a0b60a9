// What a receiver answers to a message. Every refusal has a code, and a sentence that names the peer and the field.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace parley::protocol {

enum class Verdict : std::uint8_t {
  accepted,   // stored and synced
  duplicate,  // the same was stored before
  oversize,
  truncated,
  unknown_version,
  unknown_kind,
  unknown_caller,
  wrong_sender,
  bad_signature,
  wrong_run,
  wrong_configuration,
  past_round,
  future_round,
  wrong_turn,
  wrong_dimension,
  not_finite,
  beyond_bound,
  off_grid,
  second_value,
  other_history,
  second_process,
  ledger_behind,
  unavailable,  // starting, or interrupted by its owner: try again
  stopped,      // for good
  left_behind,  // the survivors of a loss have gone on, and the caller is not one of them
};
inline constexpr std::size_t verdict_count = static_cast<std::size_t>(Verdict::left_behind) + 1;

std::string_view name_of(Verdict verdict);
std::string_view field_of(Verdict verdict);  // of the message

// Whoever is told so has signed two things that exclude each other (R3).
constexpr bool contradicts(Verdict verdict) {
  return verdict == Verdict::second_value || verdict == Verdict::other_history || verdict == Verdict::second_process;
}

struct Finding {  // about a message
  Verdict verdict = Verdict::truncated;
  std::string detail{};  // "7, but 5 is awaited"
};

struct Receipt {
  Verdict verdict = Verdict::accepted;
  std::string reason{};  // empty when accepted
  // To hello: the receiver's own hello; to a wrong configuration: the receiver's; to what contradicts other messages of
  // the sender's, or is older than they are: these (bundle).
  std::string attachment{};
  bool good() const { return verdict == Verdict::accepted || verdict == Verdict::duplicate; }
};

Receipt refuse(const std::string& peer, const Finding& finding);

// Text from outside, fit for a log: printable and short.
std::string printable(std::string_view text, std::size_t most = 64);

}  // namespace parley::protocol
