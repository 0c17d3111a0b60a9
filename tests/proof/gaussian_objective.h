// The inequality that remains in the proof of docs/proofs/gaussian-proof.md, section 5, proved by interval arithmetic
// (docs/proofs/gaussian-program.md):
//   G(m, q, k) <= L(m, q, k)   for all  0 < q < 1,  0 < k <= k_max,  m >= -r q ln(1 + r c)/(r c).           (9), (8)
// Letters as on the first page: q = 1 - s0, t0 = m + k s0/2, and everything is divided by k q phi(t0 - k s0).
//   G = s0 int_0^inf e^{-t0 tau - tau^2/2} [r - (e^{c d(tau)} - 1)/c]_+ dtau,   c = k q s0,                      gain
//       d(tau) = tau/q - psi (m + tau - k s/2)_+,   psi = x/(1 + q x),   s = s0/(1 + q x),   x = e^{r tau} - 1
//   L = int_0^1 e^{(m - k s0/2) k q y - (k q y)^2/2} dy                                                            loss
// upper_gain and lower_loss bound the two over all points of a box; prove() bisects boxes until each is settled.
#pragma once

#include <optional>
#include <vector>

#include "proof/interval.h"

namespace parley::proof {

struct Box {
  Interval m, q, k;
};

struct Claim {
  double r;        // sigma/kappa; the inequality for r implies it for every smaller ratio
  double k_max;    // C/(B sigma)
  double m_max;    // beyond: the tail, by hand (tail_holds)
  int cells = 64;  // cells of tau per unit length near 0, a power of two
  long max_boxes = 20'000'000;
  double min_width = 1e-3;  // a box of this relative size that is not settled ends the attempt
};

struct Verdict {
  bool proved = false;
  long boxes = 0;    // settled boxes
  double worst = 0;  // largest proved G/L of a settled box
  std::optional<Box> unsettled;
};

// One cell of the integral over tau, with what does not depend on the box.
struct Cell {
  Interval tau, x;  // x = e^{r tau} - 1
  double gauss;     // >= e^{-tau^2/2} on the cell
  int level;        // width 2^level/cells
};

class Inequality {
 public:
  explicit Inequality(const Claim& claim);
  double upper_gain(const Box& box) const;
  double lower_loss(const Box& box) const;
  bool infeasible(const Box& box) const;  // no point of the box meets (8)
  bool tail_holds() const;                // section 6: (9) for all m >= m_max
  Verdict prove() const;

 private:
  Claim claim_;
  std::vector<Cell> cells_;
  double end_ = 0;  // of the last cell
};

}  // namespace parley::proof
