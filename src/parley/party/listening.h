// Where a party is heard: at the address that the study names for it and at no other of this machine, unless --listen
// says so.
#pragma once
#include <optional>
#include <string>

#include "parley/base/error.h"
#include "parley/mesh/probe.h"
#include "parley/party/participant.h"

namespace parley::party {

struct Listening {
  std::string address;
  mesh::Probed probed{};
  std::optional<Error::Fields> objection{};  // why nobody can be heard there
  std::string warning{};                     // why nobody of another machine is; empty: none
};
// Opens the address for a moment, says nothing, and closes it.
Listening listening_of(const JoinOptions& o, const Participant& participant);

}  // namespace parley::party
