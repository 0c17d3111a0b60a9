// What may be asked together, and what deserves a warning: the rules between options, each with the clause it comes
// from.
#pragma once
#include "parley/algorithm/schedule.h"

namespace parley::algorithm {

// Throw Error. o: with everything filled in (planner.h).
void check_list(const std::vector<double>& values, const std::string& name, int nodes);  // one value, or one per node
void check_rules(const Options& o, const Algorithm& a, int nodes);
void check_problem(const Options& o, const Algorithm& a);  // which loss and regulariser may stand where

// The tolerance, relative to C_i/B_i, to which every node can certify each of its rounds for ANY rows and whatever its
// neighbours send: as given, or 1e-6 or more. Privacy: public numbers alone decide whether a round goes on (R12).
// Throws Error where a given one is too small, or where it would take more than 1e-3.
double certified_tolerance(const std::vector<Schedule>& nodes, const Options& o, const Setting& setting);

void warn(Plan& plan, const Setting& setting);

}  // namespace parley::algorithm
