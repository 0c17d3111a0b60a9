#include "proof/gaussian_objective.h"

#include <cmath>
#include <stdexcept>

namespace parley::proof {

// tau from 0 to 8 + 4r or a little more, in levels of length 2, with cells twice as wide (at most 1) in each next
// level. All endpoints are binary fractions, so they and the widths are exact.
Inequality::Inequality(const Claim& claim) : claim_(claim) {
  if (!(claim.r > 0 && claim.k_max > 0) || claim.cells < 1 || !std::has_single_bit(static_cast<unsigned>(claim.cells)))
    throw std::invalid_argument("r and k_max must be positive and cells a power of two");
  for (int level = 0; end_ < 8 + 4 * claim.r; ++level) {
    const double width = std::min(1.0, std::ldexp(1.0, level) / claim.cells), start = end_;
    end_ += 2;
    for (double tau = start; tau < end_; tau += width) {
      const Interval cell(tau, tau + width), x = exp(Interval(claim.r) * cell) - Interval(1);
      cells_.push_back({cell, positive_part(x), exp(Interval(-0.5) * square(cell)).hi, level});
    }
  }
}

// (8) is m >= -r q ln(1+v)/v with v = r k q s0, and ln(1+v) <= v - v^2/2 + v^3/3 for v >= 0 (the derivatives differ by
// v^3/(1+v)).
bool Inequality::infeasible(const Box& box) const {
  const Interval v = positive_part(Interval(claim_.r) * box.k * box.q * (Interval(1) - box.q));
  const Interval mean = Interval(1) - Interval(0.5) * v + square(v) / Interval(3);
  return box.m.hi < (-Interval(claim_.r) * box.q * mean).lo;
}

// Each cell contributes at most width * sup(weight) * sup(bracket).
//   sup(bracket): (e^{cd} - 1)/c increases in c and in d, and e^x - 1 >= x + x^2/2 + x^3/6 and >= x for every real x.
//   inf(d): tau/q at the left end and largest q; psi increases in tau and decreases in q; s decreases in both.
double Inequality::upper_gain(const Box& box) const {
  const Interval q = box.q, k = box.k, s0 = positive_part(Interval(1) - q),
                 half_k_s0 = positive_part(Interval(0.5) * k * s0);
  const Interval c = positive_part(k * q * s0).lo, b = (box.m + half_k_s0).lo;  // b <= t0
  Interval sum = 0, weight = 1, step = 0;  // weight = e^{-b tau} at the left end of the cell
  int level = -1;
  for (const Cell& cell : cells_) {
    if (cell.level != level) {
      level = cell.level;
      step = exp(-b * Interval(cell.tau.hi - cell.tau.lo));  // the width is a power of two: exact
    }
    const Interval next = weight * step;
    const Interval x = cell.x.hi, psi = x / (Interval(1) + Interval(q.lo) * x),
                   half_k_s = half_k_s0.lo / (Interval(1) + Interval(q.hi) * x);
    const Interval reach = positive_part(Interval(box.m.hi) + Interval(cell.tau.hi) - half_k_s);
    const Interval d = (Interval(cell.tau.lo) / Interval(q.hi) - psi * reach).lo;
    const Interval cubic = d + Interval(0.5) * c * square(d) + c * c * d * square(d) / Interval(6);
    const Interval bracket = Interval(claim_.r) - Interval(std::max(d.lo, cubic.lo));
    if (bracket.hi > 0)
      sum = sum + Interval(cell.tau.hi - cell.tau.lo) * Interval(std::max(weight.hi, next.hi)) * Interval(cell.gauss) *
                      Interval(bracket.hi);
    weight = next;
  }
  // tau > end, by hand (docs, section 6): bracket <= r + (t0 + tau) e^{r tau}, so with v = b - r + end > 0 the rest is
  // at most e^{-(b - r) end - end^2/2} (1 + 2r/v). It needs t0 + end >= 0, which follows from v > 0.
  const Interval end = end_, v = b - Interval(claim_.r) + end;
  if (!(v.lo > 0)) return infinity;
  const Interval rest =
      exp(-(b - Interval(claim_.r)) * end - Interval(0.5) * square(end)) * (Interval(1) + Interval(2 * claim_.r) / v);
  return (Interval(s0.hi) * (sum + Interval(rest.hi))).hi;
}

// Jensen on n equal parts of [0, 1]: the mean of e^g is at least e^(mean of g), g = A y - (k q)^2 y^2/2.
double Inequality::lower_loss(const Box& box) const {
  const Interval s0 = positive_part(Interval(1) - box.q), kq = box.k * box.q,
                 A = (box.m - Interval(0.5) * box.k * s0) * kq;
  constexpr int n = 8;
  Interval sum = 0;
  for (int i = 0; i < n; ++i) {
    const Interval mean_y = Interval(2 * i + 1) / Interval(2 * n),
                   mean_y2 = Interval(3 * i * i + 3 * i + 1) / Interval(3 * n * n);
    sum = sum + exp(A * mean_y - Interval(0.5) * square(kq) * mean_y2);
  }
  return (sum / Interval(n)).lo;
}

// m >= m_max, by hand (docs, section 6): L >= 1 if m_max >= k_max/2, and G <= (a + r/(m_max - r))^2/(4a), a = r^2/2.
bool Inequality::tail_holds() const {
  const Interval r = claim_.r, a = Interval(0.5) * square(r), slope = Interval(claim_.m_max) - r;
  if (!(claim_.m_max >= claim_.k_max) || !(slope.lo > 0)) return false;
  return square(a + r / slope).hi <= (Interval(4) * a).lo;
}

Verdict Inequality::prove() const {
  Verdict verdict;
  std::vector<Box> open{{{-claim_.r, claim_.m_max}, {0, 1}, {0, claim_.k_max}}};
  while (!open.empty()) {
    const Box box = open.back();
    open.pop_back();
    if (infeasible(box)) continue;
    const double gain = upper_gain(box), loss = lower_loss(box);
    if (gain <= loss) {
      ++verdict.boxes;
      verdict.worst = std::max(verdict.worst, gain / loss);
      continue;
    }
    const double m = box.m.width(), q = 1.5 * box.q.width() / std::max(0.1, box.q.hi), k = 0.5 * box.k.width();
    if (std::max({m, q, k}) < claim_.min_width || verdict.boxes + static_cast<long>(open.size()) > claim_.max_boxes) {
      verdict.unsettled = box;
      return verdict;
    }
    Interval Box::* const side = m >= q && m >= k ? &Box::m : q >= k ? &Box::q : &Box::k;
    Box left = box, right = box;
    (left.*side).hi = (right.*side).lo = (box.*side).middle();
    open.push_back(left);
    open.push_back(right);
  }
  verdict.proved = true;
  return verdict;
}

}  // namespace parley::proof
