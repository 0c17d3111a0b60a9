// The codes of this folder's Errors that a caller decides on.
#pragma once
#include "parley/base/error.h"

namespace parley::ledger {

inline constexpr ErrorCode over_cap{"over_cap"};      // a planned run would exceed the cap of a dataset
inline constexpr ErrorCode other_unit{"other_unit"};  // earlier runs' prices were for another unit: rows, or persons
inline constexpr ErrorCode ledger_in_use{"ledger_in_use"};  // by another process: it can be waited for
inline constexpr ErrorCode run_closed{"run_closed"};        // a round of it failed: it is never tried again

}  // namespace parley::ledger
