// What may be asked together, and what deserves a warning: the rules between options, each with the clause it comes
// from.
#pragma once
#include "parley/algorithm/schedule.h"

namespace parley::algorithm {

// One value for all nodes, or one per node (check_list).
double of_node(const std::vector<double>& values, int node);

// The weight of every class by --class-weight, in the order of the labels; empty: none. Error where a share is missing,
// or there are more or fewer numbers than classes.
std::vector<double> class_weights(const Options& o, int classes);
// Safe by default: that a run has no privacy, or how much noise it has, is somebody's decision. True where one was made:
// a budget, the size of the noise (Gaussian noise, whose size is asked for), or none.
bool decides_privacy(const Options& o);

// Throw Error. o: with everything filled in (planner.h).
void check_list(const std::vector<double>& values, const std::string& name, int nodes);  // one value, or one per node
void check_loss_width(const Options& o);
// --class-weight and --class-share fit the loss, the number of classes and each other.
void check_class_weight(const Options& o, int classes);
// --colluders: the algorithm, its noise and the number of parties allow for noise that cancels.
void check_colluders(const Options& o, const Algorithm& a, int nodes);
void check_diameter(const Options& o);  // at a point: of the logistic loss alone
void check_rules(const Options& o, const Algorithm& a, int nodes);
void check_problem(const Options& o, const Algorithm& a);  // which loss and regulariser may stand where

// The tolerance, relative to C_i/B_i, to which every node can certify each of its rounds for ANY rows and noise and
// whatever its neighbours send: that of the plan's options, or more where it was left open. Privacy: public numbers
// alone decide whether a round goes on (R12). Throws Error where a given one is too small, or it would take over 1e-3.
inline constexpr double usual_tolerance = 1e-6;
double certified_tolerance(const Plan& plan, const Options& given, const Setting& setting);

void warn(Plan& plan, const Setting& setting);

// What the sampler and the solver cannot do, said before anybody has paid for a round: noise beyond what doubles can
// square, and a minimum with an l1 term in more weights than there is memory for.
void check_doable(const Plan& plan, const Setting& setting);

}  // namespace parley::algorithm
