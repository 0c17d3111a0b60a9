// Is this party ready to join a study? Everything that `join` will need is looked at, whatever fails on the way;
// nothing is charged and nothing that touches rows is said. Neighbours get one call: a hello, or where this party has
// released something already, a message that means nothing.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "parley/party/join_options.h"

namespace parley::party {

enum class Health { ok, warning, failed };
std::string name_of(Health health);

struct Check {
  std::string about;  // study, key, clock, data, ledger, disk, port, or a party
  Health health = Health::ok;
  std::string sentence;  // of a failure: with what to do
};

// The same options as join's; without `as` only what all parties share is looked at. each: as soon as it is known.
std::vector<Check> examine(const JoinOptions& options, const std::function<void(const Check&)>& each);

}  // namespace parley::party
