// How many records a node needs. Zhang, Khalili, Liu, TIFS 2020, Theorems 3 and 4, up to the constant w that the
// theorems leave open.
//   Theorem 3   excess loss ≤ τ with probability 1 − δ if
//               B_i ≥ w max_k  ‖f_ref‖² ln(1/δ) / (τ − Δ)²
//   Theorem 4   the same with probability 1 − 2δ if
//               B_i ≥ w max_k  CN ln(1/δ) / ( NC(τ − Δ)²/(2‖f_ref‖²) − (1 + a) N d² ln²(d/δ)/(C α_i(k)²) )
// δ here is a probability of failure, not privacy. Theorem 4 holds for the private iterate of one round when the noise
// of later rounds is frozen at that round's; no number of records helps where its denominator is not positive (the
// noise rate does not depend on B).
#pragma once
#include <optional>

namespace parley::theory {

struct SampleQuestion {
  double target_excess = 0;        // τ
  double failure_probability = 0;  // δ
  double reference_norm = 0;       // ‖f_ref‖
  double optimality_gap = 0;       // Δ < τ
  double constant = 1;             // w
  double slack = 1;                // a > 0
};

double records_needed(const SampleQuestion& q);  // Theorem 3
// Theorem 4, with the smallest noise rate of the node's rounds; absent when no number suffices.
std::optional<double> records_needed_private(const SampleQuestion& q, double loss_weight, double noise_rate,
                                             double dimension);
double least_noise_rate(const SampleQuestion& q, double loss_weight,
                        double dimension);  // above it Theorem 4's denominator is positive

}  // namespace parley::theory
