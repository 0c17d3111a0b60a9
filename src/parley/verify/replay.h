// What follows from released values without rows: the real nodes of the algorithm, holding no data, are led through the
// rounds that were released. In a round that touches no data, step() gives the value that must have been released; in
// the others its noise hides everything, and only the state that follows is kept.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parley/algorithm/newton/newton_final.h"
#include "parley/protocol/last_words.h"
#include "parley/study/party_record.h"

namespace parley::verify {

using Values = std::map<int, std::vector<study::Heard>>;  // by origin, rounds 0, 1, …

struct Replayed {
  int rounds = 0;                                                 // that could be followed
  int recomputed = 0;                                             // of these: the value itself was computed again
  Vector final_iterate;                                           // as it stands after them
  std::shared_ptr<const algorithm::newton::Estimate> estimate{};  // of a run with intervals
  std::string stopped_by;                                         // whose value was missing; empty: nobody's
};

struct ReplayStart {  // where a node begins in a part: released values of the parts before, and nothing else
  algorithm::Start start{};
  std::optional<protocol::FinalIterate> earlier{};
};
// values: those of the node and of its neighbours, as the node itself saw them where that is known.
Replayed replay(const study::ExpectedPart& known, int node, const Values& values, const ReplayStart& start,
                std::vector<std::string>& wrong);

// Where a node of this part begins in the one that follows. nullopt: these values do not suffice.
std::optional<ReplayStart> start_after(const study::ExpectedPart& known, const protocol::Succession& succession,
                                       const study::Part& next, int node, const Values& values,
                                       const ReplayStart& start);

}  // namespace parley::verify
