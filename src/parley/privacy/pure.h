// Pure differential privacy of one data-touching round at one node, from public numbers only. Adjacency: replace one
// record of one node. Proofs: docs/proofs/objective.md, output.md, minima.md. Every result is rounded outward (up).
#pragma once
#include <optional>
#include <string>

namespace parley::privacy {

// The public facts of a round. κ = ρ/N + 2ηV is the strong convexity of what the node minimises.
struct RoundFacts {
  double gradient_weight = 0;     // a₀ = C_i/B_i times the largest class weight: of one record in the objective
  double strong_convexity = 0;    // κ
  double gradient_bound = 1;      // G ≥ |L'|
  double curvature_bound = 0.25;  // c₁ ≥ L''
  bool logistic = false;          // L'' = |L'|(1 − |L'|), which A2 uses

  double jacobian() const { return gradient_weight / strong_convexity; }  // bJ = C/(Bκ)
};

// Noise b with density ∝ exp(−rate‖b‖) in the linear term, exact minimum released.
//   logistic (A2)  a + max_{0≤s≤1} [a s + ln(1 + bJ s(1−s))],  a = a₀·rate;   = 2a as soon as rate·κ ≥ 1
//   others   (A1)  2 a₀ G rate + ln(1 + c₁ bJ)
double objective_epsilon(const RoundFacts& round, double rate);
double objective_epsilon_any_loss(const RoundFacts& round, double rate);  // A1, also for the logistic loss

// Noise with density ∝ exp(−rate‖n‖) added to an argmin with ‖∇J‖ ≤ tolerance:  rate (2GC/(Bκ) + 2·tolerance/κ).
double output_epsilon(const RoundFacts& round, double rate, double tolerance);

// An approximate minimum with ‖∇J‖ ≤ tolerance in place of the exact one, behind noise ∝ exp(−rate‖n‖):
// rate·2·tolerance/κ.
double inexact_epsilon(double strong_convexity, double tolerance, double rate);
// The rate whose cost is `epsilon`, rounded so that inexact_epsilon(…) ≤ epsilon.
double inexact_rate(double strong_convexity, double tolerance, double epsilon);

// As printed. ZKL20 Theorem 2, eq. (32): (2C/B)(1.4 c₁/κ + α).
double zkl20_epsilon(const RoundFacts& round, double rate);
// As printed. ZKL18 Theorem 4.1, eq. (26): C(1.4 c₁ + α)/(η V B).
double zkl18_epsilon(const RoundFacts& round, double rate, double penalty, int degree);
// The papers' condition 2c₁ < (B/C)·κ for their bounds; a reason when it fails. The proved bounds need none.
std::optional<std::string> paper_condition_violated(const RoundFacts& first_round);

// Σ, rounded up: losses of one node's rounds add (sequential, adaptive composition); the network's loss is the largest
// node's.
class UpwardSum {
 public:
  void add(double term);
  double value() const { return sum_; }

 private:
  double sum_ = 0;
};

}  // namespace parley::privacy
