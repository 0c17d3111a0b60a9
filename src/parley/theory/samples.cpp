#include "parley/theory/samples.h"

#include <cmath>

#include "parley/base/error.h"

namespace parley::theory {

double records_needed(const SampleQuestion& q) {
  expects(q.target_excess > q.optimality_gap, "target excess above the optimality gap");
  const double room = q.target_excess - q.optimality_gap;
  return q.constant * q.reference_norm * q.reference_norm * std::log(1 / q.failure_probability) / (room * room);
}

// Theorem 4 divided by N and C: 2‖f_ref‖² ln(1/δ) / ((τ − Δ)² − 2‖f_ref‖² (1 + a) d² ln²(d/δ)/(Cα)²)
std::optional<double> records_needed_private(const SampleQuestion& q, double loss_weight, double noise_rate,
                                             double dimension) {
  expects(q.target_excess > q.optimality_gap, "target excess above the optimality gap");
  const double room = q.target_excess - q.optimality_gap, twice = 2 * q.reference_norm * q.reference_norm;
  const double noise = dimension * std::log(dimension / q.failure_probability) / (loss_weight * noise_rate);
  const double denominator = room * room - twice * (1 + q.slack) * noise * noise;
  if (denominator <= 0) return std::nullopt;
  return q.constant * twice * std::log(1 / q.failure_probability) / denominator;
}

double least_noise_rate(const SampleQuestion& q, double loss_weight, double dimension) {
  const double room = q.target_excess - q.optimality_gap;
  return q.reference_norm * std::sqrt(2 * (1 + q.slack)) * dimension * std::log(dimension / q.failure_probability) /
         (loss_weight * room);
}

}  // namespace parley::theory
