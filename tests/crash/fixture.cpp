#include "fixture.h"

namespace parley {

void failpoint(std::string_view place) {
  using ledger::failpoints;
  ++ledger::failpoints.met[std::string(place)];
  if (failpoints.at_each) failpoints.at_each();
  if (failpoints.left > 0 && --failpoints.left == 0) ::raise(SIGKILL);
}

}  // namespace parley
