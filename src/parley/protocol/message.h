// One message between two parties, as bytes. Pure: no key, clock or socket. Integers and doubles are little endian.
//   "parley" ‖ version 2 ‖ kind 1 ‖ |run| run ‖ |configuration| configuration ‖ |sender| sender ‖ node 4 ‖ round 4
//   ‖ incarnation 4 ‖ nonce 16 ‖ head 32 ‖ |payload| 4 payload ‖ |signature| 2 signature
// The signature covers everything before it. Lengths without a size are one byte.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "parley/base/digest.h"
#include "parley/base/vector.h"
#include "parley/protocol/receipt.h"

namespace parley::protocol {

enum class Kind : std::uint8_t { hello = 1, value, silent, final_iterate, goodbye, loss, consent, seal, noise_key };

// A process of a party's (R14).
struct Process {
  int incarnation = 0;                   // its number in the party's ledger, from 1 on; 0: only looks around (doctor)
  std::array<std::uint8_t, 16> nonce{};  // drawn by itself
  bool operator==(const Process&) const = default;
};

struct Message {
  Kind kind = Kind::hello;
  std::string run{}, configuration{}, sender{};
  int node = 0;  // of the sender
  // Of a value; in hello, final, seal, goodbye and loss: the last one that the sender has released, −1: none; in
  // consent: the one from which the survivors go on; in noise_key: −1.
  int round = 0;
  Process process{};  // that signed it
  Digest head{};      // of the sender's releases through that round (next_head); in consent: Succession::id
  std::string payload{};
  std::string signature{};
};

// A message of another version is refused (unknown_version). 2: a goodbye carries a reason. 3: seals, processes, proofs. 4: a consent
// carries what its sender holds of everybody; keys for shared noise.
inline constexpr int protocol_version = 4;

std::string signed_part(const Message& m);
std::string encode(const Message& m);
std::variant<Message, Finding> decode(std::string_view bytes);
std::string run_of(std::string_view bytes);  // what stands where the run stands; "": nothing

// The largest message that is looked at: a goodbye with two of the longest values as a proof that they contradict each
// other, 8 bytes for a number and a few KiB for the rest.
constexpr std::size_t message_cap(Index largest_size) {
  return 8192 + 17 * static_cast<std::size_t>(largest_size);
}

// One head for all that a node has released so far: two values for one round cannot have the same.
//   head_k = SHA-256("parley release 1" ‖ head_{k−1} ‖ |run| run ‖ node ‖ k ‖ payload_k),  head_{−1} = 0
Digest next_head(const Digest& before, const std::string& run, int node, int round, std::string_view payload);

std::string payload_of(const Vector& value);
std::string payload_of(const Digest& digest);
std::optional<Vector> vector_of(std::string_view payload);  // nullopt: no whole number of doubles

// The payload of a hello: the last round of the receiver's that the sender has stored, its head, the process of the
// receiver's that the sender knows, and the neighbour for which the sender waits.
struct Seen {
  int round = -1;
  Digest head{};
  Process process{};
  int waits_for = -1;  // node; −1: nobody
};
std::string payload_of(const Seen& seen);
std::optional<Seen> seen_of(std::string_view payload);

// The payload of a goodbye: how its sender's run ended, what for, and one sentence for people.
enum class End : std::uint8_t {
  completed,
  interrupted,
  budget_exhausted,
  diverged,
  peer_lost,
  equivocation,
  refused,
  contradicted,  // the parties do not hold the same final iterates, and no signature says by whose fault
  continued      // the survivors go on in a part of their own; never in a goodbye
};
enum class Reason : std::uint8_t {
  own,           // the end says all: completed, interrupted, its budget, diverged, a contradiction
  silence,       // a neighbour has not answered for too long
  peer_stopped,  // a neighbour had stopped before; the sentence says which party, and why
  refusal,       // a neighbour has refused a message of the sender's
  // Others have seen more of the sender than its ledger and transcript hold, or say so: it cannot count what it has
  // released, and claims nothing.
  past_unknown,
  no_agreement,  // after a loss, those who are left do not go on
  left_behind    // the others go on in a part of their own, and started again this party cannot join them
};
struct Goodbye {
  End end = End::completed;
  Reason reason = Reason::own;
  std::string text{};
  std::string proof{};  // of a contradiction of the receiver's: a bundle
};
std::string payload_of(const Goodbye& goodbye);
std::optional<Goodbye> goodbye_of(std::string_view payload);

// Signed messages of one party that cannot all be true, for that party to see. Those that no longer fit into `most` bytes
// are left out.
std::string bundle(const std::vector<std::string>& messages, std::size_t most);
std::vector<std::string> unbundled(std::string_view bytes, std::size_t most);  // as far as they are whole

// The payload of a loss: whom its sender has lost; empty: it heard of a loss from others.
struct Loss {
  std::vector<int> lost{};  // ascending
};
std::string payload_of(const Loss& loss);
std::optional<Loss> loss_of(std::string_view payload);

// The payload of a consent: who goes on, by which configuration; or why its sender cannot.
struct Consent {
  bool agrees = false;
  std::vector<int> members{};   // ascending
  std::string configuration{};  // hash, of the next part
  Digest values{};              // of everybody's heads before the round from which they go on, where all hear all
  std::string reason{};         // of a refusal
};
std::string payload_of(const Consent& consent);
std::optional<Consent> consent_of(std::string_view payload);

}  // namespace parley::protocol
