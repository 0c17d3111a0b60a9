// The phases of an Exchange, and the one table by which it goes from one to the next. The same table stands in
// docs/check/protocol-phases.md, section 13; a test compares the two.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace parley::protocol {

enum class Phase : std::uint8_t {
  recovering,     // the ledger's releases are being told to it; nothing is said to peers
  greeting,       // nothing new is released: not every neighbour has confirmed what was released before (R7)
  rounds,         // values go to and fro
  finals,         // the last round is complete here: final iterates go round, and then seals
  stated,         // after a loss it has signed what it has released, and releases nothing more in this part
  stated_finals,  // the same, with its last round complete: the last words of others may still complete the run
  consented,      // it has signed who goes on; this run cannot be completed here any more
  completed,      // ended, with the model of all
  continued,      // ended: the survivors go on in a part of their own
  interrupted,    // ended by its owner: others wait for it
  stopped,        // ended for any other reason
};

enum class Event : std::uint8_t {
  told,           // all releases in the ledger have been told to it
  confirmed,      // every neighbour has answered a hello of this process
  last_round,     // the values of the last round were handed out: the run gives its final iterate
  all_seals,      // every final iterate is here, and every party's seal, and they agree
  statement,      // a statement after a loss is signed and synced, now or by an earlier process
  consent,        // a consent is signed and synced, now or by an earlier process
  agreement,      // every member of the next part has consented to it
  contradiction,  // a party has signed two things that exclude each other (R3)
  accusation,     // this party's own signature shows that its ledger does not know all that it has released
  interrupt,      // by its owner
  stop,           // a loss, a refusal, a goodbye, the budget, divergence
};

struct Transition {
  Phase from;
  Event on;
  Phase to;
};

std::span<const Transition> transitions();
Phase next(Phase from, Event on);  // a row of transitions(); anything else is a bug

constexpr bool ended(Phase phase) {
  return phase >= Phase::completed;
}

std::string_view name_of(Phase phase);
std::string_view name_of(Event event);

}  // namespace parley::protocol
