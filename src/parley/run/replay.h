// What follows from released values without rows: the real nodes of the algorithm, holding no data, are led through the
// rounds that were released. In a round that touches no data, step() gives the value that must have been released; in
// the others its noise hides everything, and only the state that follows is kept.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "parley/run/testimony.h"

namespace parley::run {

using Values = std::map<int, std::vector<Heard>>;  // by origin, rounds 0, 1, …

struct Replayed {
  int rounds = 0;          // that could be followed
  int recomputed = 0;      // of these: the value itself was computed again
  Vector final_iterate;    // as it stands after them
  std::string stopped_by;  // whose value was missing; empty: nobody's
};

// values: those of the node and of its neighbours, as the node itself saw them where that is known.
Replayed replay(const Basis& basis, int node, const Values& values, std::vector<std::string>& wrong);

// (ε, δ) of the charges that the plan has for the first `rounds` rounds of messages. whole: the run was completed;
// otherwise at δ > 0 composition covers the planned run only, and that is what counts.
double found_epsilon(const Basis& basis, int node, int rounds, bool whole);
int rounds_from_rows(const Basis& basis, int node, int rounds);

}  // namespace parley::run
