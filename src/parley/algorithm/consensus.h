// The equations of the peer-to-peer family at one node i with neighbours V_i. One primal update serves all of its
// algorithms.
//  (P)  f⁺ = argmin_f  O(f) + (2λ + b)ᵀf + η Σ_j ‖½(f_i + f_j) − f‖²          [ZKL18 (8),(10),(24); ZKL20 (14),(18)]
//  (D)  λ⁺ = λ + (θ/2) Σ_j (f_i⁺ − f_j⁺)                                      [ZKL18 (9),(11); ZKL20 (13),(15)]
//  (L)  f⁺ = f − { ∇O(f) + 2λ + η Σ_j (f_i − f_j) } / (2ηV + 1/s)             [HHCG20's update on any graph]
//  (R)  f⁺ = f − { g + 2λ + η Σ_j (f_i − f_j) } / (2ηV + γ)                   [ZKL20 (10),(16),(19)]
//       g  = −2λ_before − η Σ_j (2f − f_i,before − f_j,before) = b + ∇O(f)    by optimality in (P), never from data
// Privacy: nothing here has data in scope. State is a function of released values and public parameters alone, so it is
// rebuilt from a record after a crash without reading data or spending, and a recycled step cannot leak (ZKL20
// Lemma 2).
// Differs from the paper: Algorithm 3 re-uses the *stored* b + ∇O(f). With a solver that is not exact, or with
// output noise, that is not what was released; here g is always computed from the released f.
#pragma once
#include "parley/privacy/release.h"
#include "parley/problem/objective.h"

namespace parley::algorithm {

using privacy::Inbox;

struct State {
  int round = -1;   // the last round released
  Vector f;         // f_i(round), as released
  Vector dual;      // λ_i, settled up to the round before
  Vector gradient;  // g of the last round that touched data
  Vector anchor{};  // where the Hessian that a solve begins with is taken (speed only)
};

// The quadratic and linear terms that (P) adds to O, without b: lᵀf + (q/2)‖f‖², q = 2ηV, l = 2λ − η(V f_i + Σ_j f_j).
problem::Proximal primal_terms(const State& s, const Inbox& f_j, double eta);  // (P)
Vector linear_pull(const State& s, const Inbox& f_j, double eta);              // (L): 2λ + η Σ_j (f_i − f_j)
Vector dual_update(const State& s, const Inbox& f_j, double theta);            // (D)
Vector recycled_gradient(const State& s, const Inbox& f_j, double eta, const Vector& f_new);  // g, s before the round
Vector recycled_step(const State& s, const Inbox& f_j, double eta, double gamma);             // (R)

}  // namespace parley::algorithm
