// The price of a private round, and the noise that a price allows. Privacy: every charge of the peer-to-peer family is
// made here, from public numbers; what `account` prints, `train` pays.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "parley/algorithm/schedule.h"
#include "parley/privacy/gaussian_round.h"

namespace parley::algorithm {

privacy::RoundFacts facts(const Schedule& s, double strong_convexity);

// Sets the round's noise and charge from its level: the rate of gamma noise (pp: of the noise on the penalty) or the
// scale of Gaussian noise. Throws Error where no theorem covers it.
void price(PrivateRound& round, Schedule& s, double level);

// The levels of all rounds such that the whole run costs at most (epsilon, delta), split evenly. Throws Error
// "infeasible: …".
std::vector<double> calibrate(const Schedule& s, double epsilon);

// (ε, δ) of all of a node's charges in one planned run, the smallest valid bound: pure sums, Kairouz–Oh–Viswanath,
// Gaussian DP.
double whole_run_epsilon(std::span<const privacy::Charge> charges, double delta);

// The bound as the papers print it, with the reason where its assumptions fail.
void price_as_printed(Schedule& s, const std::vector<double>& levels);

}  // namespace parley::algorithm
