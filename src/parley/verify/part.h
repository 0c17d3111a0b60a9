// One part of a run as the records tell it: whether all were told the same, and whether what must follow does.
#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "parley/protocol/survivors.h"
#include "parley/verify/replay.h"

namespace parley::verify {

struct Findings {
  std::vector<std::string> wrong, unchecked;
  long compared = 0;
};

struct SeenPart {
  study::ExpectedPart known;
  std::vector<std::optional<ReplayStart>> starts;  // by node; nullopt: these records do not tell where it begins
  std::vector<study::PartyRecord> records{};
  Values merged{};                             // by origin: as recorded by itself, otherwise as received
  std::vector<Values> seen{};                  // by node: what its values were computed from, as far as is known
  std::vector<Replayed> replayed{};            // by node
  std::optional<protocol::Succession> next{};  // on which the survivors have agreed
  std::set<int> contradicted{};                // nodes: no bound holds for what they released

  const study::PartyRecord* own(int node) const;  // null: not given
  int rounds(int node) const { return merged.contains(node) ? static_cast<int>(merged.at(node).size()) : 0; }
};

SeenPart first_seen(study::ExpectedPart known);
void check_part(SeenPart& part, Findings& findings);
// Of a record in this part: whom it accuses of a start that is not what that one released last in the part before.
void check_accused_of_start(const SeenPart& before, const SeenPart& part, study::PartyRecord& record,
                            Findings& findings);

// Who goes on, from which round: from signed statements and consents alone, each of which is held against the values
// that were released. nullopt: nobody does. Whoever has signed two that exclude each other is marked as contradicted.
std::optional<protocol::Succession> agreed_on(SeenPart& part, Findings& findings);
// Does what this party holds itself show that all survivors have agreed?
bool saw_agreement(const SeenPart& part, const study::PartyRecord& t);
// nullopt: the plan on which they agreed is not the one that follows.
std::optional<SeenPart> part_after(const SeenPart& part, Findings& findings);

}  // namespace parley::verify
