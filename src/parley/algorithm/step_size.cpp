#include "parley/algorithm/step_size.h"

#include <cmath>

namespace parley::algorithm {

double whole_gradient(const StepFacts& s) {
  return s.gradient_bound + s.regularization * s.solution_bound + s.l1 * std::sqrt(s.dimension);
}

double convex_step(const StepFacts& s, long k) {
  return s.solution_bound / (whole_gradient(s) * std::sqrt(2.0 * static_cast<double>(k)));
}

double smooth_step(const StepFacts& s, long k) {
  return 1 / (s.curvature_bound + s.regularization +
              s.gradient_noise * std::sqrt(2.0 * static_cast<double>(k)) / s.solution_bound);
}

}  // namespace parley::algorithm
