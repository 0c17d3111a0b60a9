#include "parley/algorithm/star.h"

namespace parley::algorithm {

problem::Proximal provider_terms(const ProviderState& s, const Vector& w_bar, double rho) {
  return {.linear = -s.dual - rho * w_bar, .quadratic = rho};
}

Vector provider_pull(const ProviderState& s, const Vector& w_bar, double rho) {
  return -s.dual + rho * (s.w - w_bar);
}

Vector dual_after(const Vector& dual, const Vector& w, const Vector& w_bar, double rho) {
  return dual - rho * (w - w_bar);
}

Vector trainer_update(const TrainerState& s, const Vector& mean, double rho) {
  return mean - s.mean_dual / rho;
}

}  // namespace parley::algorithm
