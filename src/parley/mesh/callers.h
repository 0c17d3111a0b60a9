// Certificates that callers present, held against those that the roster pins.
#pragma once
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "parley/mesh/courier.h"

namespace parley::mesh {

// Why a certificate, or whoever has it, is refused.
struct Objection {
  std::string kind;  // of a few, made of what this party knows; with the name, where its roster has that (LogThrottle)
  std::string sentence;
};

// Of the certificate in a PEM text, where the roster's `expected` should be. nullopt: it is the one that is pinned.
std::optional<Objection> objection(std::string_view pem, const std::vector<Contact>& roster,
                                   const std::string& expected, identity::Time now);

// Who calls. Asked in the handshake, before a byte of HTTP/2 is read, and again at each call: a
// certificate may expire meanwhile.
class Callers {
 public:
  using Clock = std::chrono::steady_clock;
  Callers(
      std::vector<Contact> roster, std::function<identity::Time()> now,
      std::function<Clock::time_point()> elapsed = [] { return Clock::now(); })
      : roster_(std::move(roster)), now_(std::move(now)), elapsed_(std::move(elapsed)) {}
  using Judged = std::variant<std::string, Objection>;  // its name, or why it is refused
  Judged name_in(std::string_view pem);
  // A new connection of the caller's. Refused as above, or for too many: a party needs one, and another when it is
  // started again.
  Judged admit(std::string_view pem);

 private:
  const std::vector<Contact> roster_;
  const std::function<identity::Time()> now_;
  const std::function<Clock::time_point()> elapsed_;
  std::mutex mutex_;
  // By what is presented, at most one for each party. Parsing takes longer than all the rest of a call; whether a
  // certificate is valid is asked each time.
  std::map<std::string, identity::Certificate, std::less<>> pinned_;
  struct Visits {
    double allowed = most_at_once;
    Clock::time_point counted{};
  };
  static constexpr double most_at_once = 8, per_second = 2;
  std::map<std::string, Visits> visits_;  // by name
};

}  // namespace parley::mesh
