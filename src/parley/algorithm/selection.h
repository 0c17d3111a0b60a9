// --algorithm auto: which algorithm runs. One function of the options and of who takes part, all public; no row and no
// noise is looked at. The first rule that fits decides (docs/planner.md, section 1):
//   the plain hinge, which has a kink                           linear-admm; around a trainer dp-admm
//   an option that some algorithms alone have (--penalty, …)    one of those
//   a trainer takes part                                        star-pvp
//   no budget, also --noise none                                mr-admm, with the noise that is given
//   δ = 0, which needs gamma noise                              mr-admm
//   a study, while it cannot run newton                         mr-admm
//   otherwise                                                   newton, which loses least (docs/frontier.md)
#pragma once
#include <string>

#include "parley/algorithm/options.h"

namespace parley::algorithm {

// Whether a study can run the algorithms that exchange sums over rows.
inline constexpr bool sums_between_organisations = false;

struct Participants {
  bool trainer = false;        // one of them holds no rows
  bool organisations = false;  // each in its own process (study); otherwise a simulation
};

struct Selected {
  std::string algorithm;  // a name of catalog.h
  std::string because;    // one clause; "" where the user named the algorithm
  bool by_planner() const { return !because.empty(); }
};

Selected select_algorithm(const Options& o, const Participants& who);

}  // namespace parley::algorithm
