// What train prints at its end: quality beside what guessing reaches, privacy loss, the guarantee, and where the record
// is. Privacy: the quality is measured on everyone's rows; the terminal is the owner's.
#pragma once
#include "parley/run/simulate.h"

namespace parley::cli {

void print_result(const run::Summary& summary);

}  // namespace parley::cli
