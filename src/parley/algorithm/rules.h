// What may be asked together, and what deserves a warning: the rules between options, each with the clause it comes
// from.
#pragma once
#include "parley/algorithm/schedule.h"

namespace parley::algorithm {

// Throw Error. o: with everything filled in (planner.h).
void check_list(const std::vector<double>& values, const std::string& name, int nodes);  // one value, or one per node
void check_rules(const Options& o, const Algorithm& a, int nodes);
void check_problem(const Options& o, const Algorithm& a);  // which loss and regulariser may stand where
void check_certifiable(const Schedule& s, const PrivateRound& r, long k);
void check_summable(const Schedule& s, const Setting& setting);

void warn(Plan& plan, const Setting& setting);

}  // namespace parley::algorithm
