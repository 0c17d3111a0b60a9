#include "parley/base/no_core_dump.h"

#include <sys/prctl.h>
#include <sys/resource.h>

namespace parley {

void leave_no_core_dump() {
#ifndef PARLEY_SANITIZED
  const rlimit none{};
  ::setrlimit(RLIMIT_CORE, &none);
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);  // a core_pattern that begins with | does not ask for the limit
#endif
}

}  // namespace parley
