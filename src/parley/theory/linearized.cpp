#include "parley/theory/linearized.h"

#include <algorithm>
#include <cmath>

#include "parley/base/error.h"

namespace parley::theory {
namespace {

double square(double x) {
  return x * x;
}

// The part of all three that the proofs get right: (N/2t)(ρ D_w² + β²/ρ).
double start_terms(const Star& s, long t) {
  return s.nodes() * (s.penalty * square(s.solution_bound) + square(s.disagreement_weight) / s.penalty) /
         (2 * static_cast<double>(t));
}

// Φ at round 0 without its D_w²/(2η¹) part: Σ_i ( ρ/2 ‖w*‖² + ‖γ_i*‖²/(2ρ) ), γ_i* = f_i'(w*)
double dual_start(const Star& s) {
  return s.nodes() * (s.penalty * square(s.solution_bound) + square(whole_gradient(s.step_facts(0))) / s.penalty) / 2;
}

}  // namespace

double Star::whole_curvature() const {
  return curvature_bound + regularization / nodes();
}
double Star::noise_variance(std::size_t node) const {
  return 8 * square(gradient_bound) * std::log(1.25 / delta) / square(records.at(node) * epsilon);
}

algorithm::StepFacts Star::step_facts(std::size_t node) const {
  return {.gradient_bound = gradient_bound,
          .curvature_bound = curvature_bound,
          .regularization = l1 ? 0 : regularization / nodes(),
          .l1 = l1 ? regularization / nodes() : 0,
          .dimension = dimension,
          .solution_bound = solution_bound,
          .gradient_noise = std::sqrt(noise_variance(node))};
}

double noise_scale(const Star& s, std::size_t node, double step_size) {
  return std::sqrt(s.noise_variance(node)) / (s.penalty + 1 / step_size);
}

GapBounds convex_bounds(const Star& s, long rounds) {
  expects(rounds >= 1, "a round");
  const algorithm::StepFacts step = s.step_facts(0);
  const double t = static_cast<double>(rounds), n = s.nodes(), d_w = s.solution_bound, g0 = whole_gradient(step);
  double noise = 0;  // Σ_i d v_i
  for (std::size_t i = 0; i < s.records.size(); ++i) noise += s.dimension * s.noise_variance(i);
  GapBounds b;
  b.printed = n * std::sqrt(2.0) * d_w * g0 / std::sqrt(t) + start_terms(s, rounds);  // as in Theorem 3
  b.corrected = d_w * (2 * n * g0 + noise / g0) / std::sqrt(2 * t) + start_terms(s, rounds);
  // p_k = 1/η^{k+1}. lyapunov bounds Σ_i (p_k/2 A_i + ρ/2 B + Γ_i/(2ρ) − ⟨γ_i*, e_i⟩), own = Σ_i p_{k−1}/2 A_i follows
  // from it by |Σ_i ⟨γ_i*, e_i⟩| ≤ G₀ √(2N own/p).
  const double slope = s.l1 ? 0 : s.regularization / n;           // how ‖R'‖ grows away from w*
  double p = 1 / convex_step(step, 1), spread = n * square(d_w);  // Σ_i A_i
  double sum = n * p * square(d_w) / 2, lyapunov = sum + dual_start(s);
  for (long k = 0; k < rounds; ++k) {
    const double gradient =
        n * g0 * g0 + 2 * g0 * slope * std::sqrt(n * spread) + square(slope) * spread;  // Σ_i E‖f_i'(w̃_i^k)‖²
    const double made = (gradient + noise) / (2 * p);
    sum += made;
    lyapunov += made;
    if (k + 1 == rounds) break;
    const double x = g0 * std::sqrt(2 * n / p), own = square((x + std::sqrt(x * x + 4 * lyapunov)) / 2);
    spread = 2 * own / p;
    const double next = 1 / convex_step(step, k + 2), grown = (next / p - 1) * own;
    sum += grown;
    lyapunov += grown;
    p = next;
  }
  b.proved = sum / t + start_terms(s, rounds);
  return b;
}

GapBounds smooth_bounds(const Star& s, long rounds) {
  expects(rounds >= 1 && !s.l1, "a round, and a regularizer with a second derivative");
  const double t = static_cast<double>(rounds), n = s.nodes(), d_w = s.solution_bound;
  GapBounds b;
  const double smooth = n * square(d_w) * s.whole_curvature() / (2 * t) + start_terms(s, rounds);
  b.printed = b.corrected = smooth;
  for (std::size_t i = 0; i < s.records.size(); ++i) {
    const double one =
        2 * d_w * s.gradient_bound * std::sqrt(std::log(1.25 / s.delta)) / (s.records[i] * s.epsilon * std::sqrt(t));
    b.printed += 2 * one;  // as in Theorem 4
    b.corrected += (1 + s.dimension) * one;
  }
  double sum = 0;  // Σ_i p_i D_w²/2
  for (std::size_t i = 0; i < s.records.size(); ++i) sum += square(d_w) / (2 * smooth_step(s.step_facts(i), 1));
  double lyapunov = sum + dual_start(s);
  for (long k = 0; k < rounds; ++k) {
    double made = 0, growth = 1;
    for (std::size_t i = 0; i < s.records.size(); ++i) {
      const double p = 1 / smooth_step(s.step_facts(i), k + 1);
      made += s.dimension * s.noise_variance(i) / (2 * (p - s.whole_curvature()));
      growth = std::max(growth, 1 / (smooth_step(s.step_facts(i), k + 2) * p));
    }
    sum += made;
    lyapunov += made;
    if (k + 1 == rounds) break;
    const double grown = (growth - 1) * lyapunov;
    sum += grown;
    lyapunov += grown;
  }
  b.proved = sum / t + start_terms(s, rounds);
  return b;
}

}  // namespace parley::theory
