// LIBLINEAR 2.30 behind three lines, in a file of its own: its header puts `problem`, `model` and `train` in the global
// namespace.
//   min_w  ½‖w‖² + C Σ_n ln(1 + exp(−y_n wᵀx_n))      solver L2R_LR: trust region Newton with conjugate gradients, no
//   bias
#pragma once
#include <vector>

#include "parley/base/vector.h"
#include "parley/data/dataset.h"
#include "stopwatch.h"

struct feature_node;

namespace parley::bench {

class Liblinear {
 public:
  explicit Liblinear(const data::Rows& rows);  // copies the rows into LIBLINEAR's format; not part of any measured time
  ~Liblinear();
  Liblinear(const Liblinear&) = delete;
  Liblinear& operator=(const Liblinear&) = delete;

  struct Fit {
    Vector w;
    Seconds seconds;  // of train() alone
  };
  Fit fit(double c, double stop) const;  // stop: ‖∇‖ ≤ stop · max(min(#pos, #neg), 1)/rows · ‖∇ at 0‖

 private:
  std::vector<feature_node> entries_;
  std::vector<feature_node*> rows_;
  std::vector<double> label_;
  int features_ = 0;
};

}  // namespace parley::bench
