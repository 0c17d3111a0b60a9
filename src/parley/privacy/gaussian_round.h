// Gaussian noise in one data-touching round at one node: its GDP parameter, from public numbers only. Adjacency:
// replace one record. Proofs: docs/proofs/gaussian.md, output.md and minima.md. Every μ is rounded up.
#pragma once
#include <optional>
#include <string>

#include "parley/base/word.h"
#include "parley/privacy/pure.h"

namespace parley::privacy {

// How much is claimed where the proof ends: only what is proved, or also what was verified numerically (accounting.md
// b4).
enum class Bound { proved, verified };
constexpr Words<Bound, 2> words(Bound) {
  return {{{"proved", Bound::proved}, {"verified", Bound::verified}}};
}

// b ~ N(0, scale²I) in the objective, logistic loss, exact minimum:  μ = c(r)·2a₀/scale,  r = scale/κ.
//   c = 1        for r ≤ 1.75                      (theorem of docs/proofs/gaussian.md; needs k = a₀/scale ≤ 2)
//   c = r/1.75   beyond, when a₀/κ ≤ 3.5           (corollary 2 there: noise splitting)
//   c = min(r/1.75, 0.89 + 0.117 r)                beyond, numerically verified only (Bound::verified)
// nullopt with a reason where none of these covers the round.
struct Mu {
  std::optional<double> value;
  std::string why_not;
  bool output_would_do = false;  // noise on the output has no such limit
  bool proved = true;
};
Mu objective_mu(const RoundFacts& round, double scale, Bound bound);

// N(0, scale²I) on an argmin with ‖∇J‖ ≤ tolerance:  μ = (2Ga₀ + 2·tolerance)/(κ·scale). Any loss, no condition on the
// scale.
double output_mu(const RoundFacts& round, double scale, double tolerance);

// An approximate minimum behind N(0, scale²I):  μ = 2·tolerance/(κ·scale), composed with the round's own.
double inexact_mu(double strong_convexity, double tolerance, double scale);

double compose_mu(double a, double b);  // √(a² + b²), rounded up

// Calibration: the least noise whose charge does not exceed the target. nullopt: no noise does; `why_not` says what to
// raise.
struct Level {
  std::optional<double> value;
  std::string why_not;
  bool output_would_do = false;  // noise on the output has no such limit
};
Level objective_scale_for(const RoundFacts& round, double mu, Bound bound);
double output_scale_for(const RoundFacts& round, double mu, double tolerance);
Level objective_rate_for(const RoundFacts& round,
                         double epsilon);  // largest gamma rate with objective_epsilon ≤ epsilon
double output_rate_for(const RoundFacts& round, double epsilon, double tolerance);

}  // namespace parley::privacy
