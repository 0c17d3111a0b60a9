// What a party wrote at the end of a run, held against what follows from the released values: statement, model, final
// iterates, and the lines of its rounds.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "parley/run/replay.h"
#include "parley/run/testimony.h"

namespace parley::run {

// replayed: by node; only of those that could be followed to the last round is the final iterate known.
void check_papers(const Basis& basis, const Testimony& t, const std::vector<Replayed>& replayed,
                  std::vector<std::string>& wrong);

// The ε in its statement, whether it holds or not; nullopt: none is there.
std::optional<double> stated_epsilon(const Testimony& t);

}  // namespace parley::run
