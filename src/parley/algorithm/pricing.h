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
// scale of Gaussian noise; of a linearised update, both as noise on its gradient. Throws Error where no theorem covers
// it.
void price(PrivateRound& round, Schedule& s, double level);

// The levels of all rounds such that the whole run costs at most (epsilon, delta), split evenly. Throws Error
// "infeasible: …".
// as_printed: by the sensitivity that HHCG20 prints for star-pvp, or the proved one where that is larger (l1 share of
// λ/N > ρ).
std::vector<double> calibrate(const Schedule& s, double epsilon, bool as_printed = false);

// ‖·‖₂ sensitivity of what a round releases, without the solver's tolerance (of a linearised update: of its gradient);
// paper: HHCG20's 2GC N/(B λ) for star-pvp.
double printed_sensitivity(const Schedule& s, const PrivateRound& round, bool paper);

// What a ledger needs to compute both prices of shared noise again.
void add_parameters(const privacy::Sharing& sharing, privacy::Charge& charge);

// (ε, δ) of all of a node's charges in one planned run, the smallest valid bound: pure sums, Kairouz–Oh–Viswanath,
// Gaussian DP. set_epsilon: against both.
void set_epsilon(Schedule& s, std::span<const privacy::Charge> charges);
double whole_run_epsilon(std::span<const privacy::Charge> charges, double delta,
                         privacy::Against whom = privacy::Against::anybody);

privacy::Charge no_noise();  // data without noise: no private ledger pays it

// The bound as the papers print it, with the reason where its assumptions fail.
void price_as_printed(Schedule& s, const std::vector<double>& levels);

}  // namespace parley::algorithm
