// What a process holds in memory and nobody else may have: private keys, the secret that noise is made from, the key of a
// ledger's fingerprints.
#pragma once

namespace parley {

// No core dump, and no debugger of the same user: whoever reads or makes such a secret calls it first. Trees with a
// sanitizer leave it out, because LeakSanitizer looks at its process as a debugger does.
void leave_no_core_dump();

}  // namespace parley
