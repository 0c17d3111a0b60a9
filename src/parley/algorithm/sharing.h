// --colluders: noise that cancels between parties (privacy/shared_noise.h), and who may have it.
#pragma once
#include "parley/algorithm/catalog.h"
#include "parley/algorithm/options.h"
#include "parley/privacy/release.h"
#include "parley/privacy/shared_noise.h"

namespace parley::algorithm {

// Error where the algorithm, its noise or the number of parties does not allow it.
void check_colluders(const Options& o, const Algorithm& a, int nodes);

// Without --colluders, or with all others: nothing is shared.
privacy::Sharing sharing_of(const Options& o, int nodes);

// What a ledger needs to compute both prices again.
void add_parameters(const privacy::Sharing& sharing, privacy::Charge& charge);

}  // namespace parley::algorithm
