#include "fixture.h"

namespace parley::privacy {

void failpoint(std::string_view place) {
  ++failpoints.met[std::string(place)];
  if (failpoints.at_each) failpoints.at_each();
  if (failpoints.left > 0 && --failpoints.left == 0) ::raise(SIGKILL);
}

}  // namespace parley::privacy
