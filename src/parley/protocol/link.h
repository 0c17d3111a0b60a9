// The way to one neighbour: at most one call at a time, so that it gets everything in order; what it has, and when it
// was last heard.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>

#include "parley/protocol/passed_on.h"

namespace parley::protocol {

struct Timing {             // seconds
  double deadline = 10;     // of one call; a silent peer is reported after 1.5 of it
  double wait = 600;        // for a peer that went silent, before it is lost
  double first_wait = 600;  // for one that was never heard
};

// What is told of a neighbour each tenfold time only, each kind counted by itself.
enum class Told : std::uint8_t { stopped_before, interrupted, lacks_rounds, started_wrongly, accuses };
inline constexpr std::size_t told_kinds = 5;

struct Link {
  enum class What : std::uint8_t { hello, value, passed_on, last_word, goodbye, survivors, noise_key };
  struct Call {
    std::uint64_t id = 0;
    What what = What::hello;
    // A value's round, Exchange::last_word_key, a hello's last round of the neighbour's, a key of
    // Survivors::messages, whose a noise key is.
    int number = -1;
    PassedOn::Key key{};  // of what is passed on
    double since = 0;
  };

  int node = 0;
  std::optional<Call> call{};  // on its way
  bool greeted = false;        // it has answered a hello since the last call that failed
  bool confirmed = false;      // it has said in this process how much of this node it has, and that is not too much
  int stored = -1;             // the last round of this node's that it said to have stored
  std::set<PassedOn::Key> passed_on{};  // of others' messages: what it has acknowledged, or passed on itself
  std::set<int> noise_keys{};           // whose it has
  std::size_t settled_noise_keys = 0;   // of NoiseKeys::order: it has them, or they do not go to it
  std::set<int> last_words{};           // the final iterates and seals that it has, by key
  std::set<int> told{};                 // the keys of Survivors::messages that it has
  bool complete = false;                // it said goodbye with all of them
  bool goodbye_said = false;
  bool given_up = false;

  double heard = 0;      // its last answer, or the start
  double progress = 0;   // when it last brought what was awaited, or nothing was
  double excused = 0;    // since then: how long it has itself waited for another, as it says
  int waits_for = -1;    // that one; −1: nobody
  bool awaited = false;  // that was reported
  double restarted = 0;  // since then: when it last was, the first few times; it is given that much more time
  int restarts = 0;
  std::optional<double> called{};  // when it last sent something itself
  bool ever_heard = false, reported = false;
  std::array<long, told_kinds> told_of{};  // how often, of each kind
  double next_attempt = 0;
  int failures = 0;

  void progressed(double now) {
    progress = now;
    excused = 0;
    awaited = false;
    restarts = 0;
  }

  void retry_later(double now, const Timing& timing) {
    const double pause = timing.deadline / 16 * static_cast<double>(1 << (failures < 3 ? failures : 3));
    ++failures;
    next_attempt = now + pause;
  }
};

}  // namespace parley::protocol
