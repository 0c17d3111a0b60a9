// The equations of the star family: N data providers i and a trainer. Huang, Hu, Chan-Tin, Gong: DP-ADMM, TIFS 2020.
//  exact   w_i⁺ = argmin_w  ℓ_i(w) + (λ/N)R(w) − γ_iᵀ(w − w̄) + (ρ/2)‖w − w̄‖²                      Algorithm 1 (1a), 2
//  linear  w_i⁺ = w̃_i − { ∇ℓ_i(w̃_i) + (λ/N)R'(w̃_i) − γ_i + ρ(w̃_i − w̄) } / (ρ + 1/η)              Algorithm 3 (3a)
//  w̃_i⁺ = w_i⁺ + noise leaves the provider
//  w̄⁺ = mean(w̃_i⁺) − mean(γ_i)/ρ                                                                    (3b), the trainer
//  γ_i⁺ = γ_i − ρ(w̃_i⁺ − w̄⁺)                                                                        (3c)
// Privacy: nothing here has data in scope; γ_i is a function of released values, so it is never sent: the trainer forms
// the mean of the duals itself (it is the only thing it needs of them).
#pragma once
#include "parley/privacy/release.h"
#include "parley/problem/objective.h"

namespace parley::algorithm {

struct ProviderState {
  int round = -1;   // of messages: the providers speak in odd ones
  Vector w;         // w̃_i, as released
  Vector dual;      // γ_i
  Vector anchor{};  // where the Hessian that a solve begins with is taken (speed only)
};

struct TrainerState {
  int round = -1;
  Vector w;          // w̄, as released
  Vector mean_dual;  // mean_i γ_i
};

problem::Proximal provider_terms(const ProviderState& s, const Vector& w_bar, double rho);  // of the exact update
Vector provider_pull(const ProviderState& s, const Vector& w_bar, double rho);              // −γ_i + ρ(w̃_i − w̄)
Vector dual_after(const Vector& dual, const Vector& w, const Vector& w_bar, double rho);    // (3c), one or the mean
Vector trainer_update(const TrainerState& s, const Vector& mean, double rho);               // (3b)

}  // namespace parley::algorithm
