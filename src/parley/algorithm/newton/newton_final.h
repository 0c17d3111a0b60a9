// The final round: coefficients with valid intervals (docs/use/intervals.md, docs/check/newton.md theorem N2). At the released
// point f, without cutting and without λ, everybody's sums over all n records give
//   g̃ = ∇ + e_g/n,  H̃ = (1/n) Σ L'' x xᵀ + E,  J̃ = (1/n) Σ (L')² x xᵀ + noise        E: s_H on its diagonal, s_H/√2 off it
//   (F)  f̂ = f − H̃⁻¹g̃,   D = f̂ − f
//   (V)  Var f̂ = H̃⁻¹ [ J̃/n + P ] H̃⁻¹,   P = σ_g²I + (s_H²/2)(‖D‖²I + DDᵀ): the law of e_g − E D
// A coefficient c = kᵀf̂ is identified, with a = H̃⁻¹k, if
//   (a)  λ_min(H̃) ≥ 1.5 √2 s_H √d: one and a half times the spectral norm of E
//   (b)  what (F) leaves out is small: 0.0481 √3 q √(aᵀS̃a) ≤ SE/2, S̃ the second moments, q = DᵀS̃D − tr(S̃ H̃⁻¹PH̃⁻¹) or 0. ½|L'''| ≤ 0.0481, and
//        E (xᵀD)²|xᵀa| ≤ √(E(xᵀD)⁴) √(aᵀSa), with the fourth moment of a normal: an estimate, not a bound
// Squared loss: f = 0 and g̃ = −Xᵀy/n, so D = f̂, nothing is left out, and J = σ̂²H̃,
//        σ̂² = y̅² + g̃ᵀf̂ + tr(H̃⁻¹P): the mean square of the residuals, freed of the noise in f̂.
// Differs from the paper: none has it.
// Privacy: no data in scope; a function of released sums and of the public plan.
#pragma once
#include <optional>

#include "parley/base/vector.h"
#include "parley/problem/loss.h"

namespace parley::algorithm::newton {

// Standard deviations of the noise in the final round's sums over all parties: of a diagonal entry, of a number.
struct FinalNoise {
  double hessian = 0, spread = 0, gradient = 0, square = 0;
};

// What is planned of it, public.
struct FinalPhase {
  std::optional<FinalNoise> noise{};  // none: there is no such round
  problem::Loss loss{};               // not cut
  bool diameter_at_point = false;
  double tolerance = 0;
  long steps() const { return noise ? 1 : 0; }
  bool squared() const { return loss.kind == problem::LossKind::squared; }
};

// Means over all records, as released.
struct FinalSums {
  Matrix hessian, spread;  // H̃, J̃ (logistic loss)
  Vector gradient;         // g̃
  double square = 0;       // y̅² (squared loss)
};

struct Estimate {
  Vector value;                        // f̂; with (a) not met, of an H̃ whose eigenvalues were raised
  Matrix inverse, sampling, variance;  // H̃⁻¹; H̃⁻¹ J̃/n H̃⁻¹; (V)
  Matrix moments;                      // S̃; empty: nothing is left out
  double departure = 0;                // q
  double smallest = 0, needed = 0;     // (a)
  bool curved() const { return smallest >= needed; }
};
// moments: S̃.
Estimate estimate(const FinalPhase& plan, double records, const Vector& f, const FinalSums& means,
                  const Matrix& moments);

// kᵀf̂ with its standard errors: from the noise and from which records there are, and from the latter alone.
struct Combination {
  double value = 0, standard_error = 0, sampling_error = 0;
  bool identified = false;
};
Combination combination(const Estimate& e, const Vector& k);

}  // namespace parley::algorithm::newton
