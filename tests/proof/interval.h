// Interval arithmetic with outward rounding, just enough for the proof beside it.
//   Every operation returns an interval that contains the exact result for all exact arguments in its operands.
// Assumed: IEEE 754 binary64 with round to nearest (x86-64 SSE2, no -ffast-math, no contraction). The rounded result of
// + - * / is then a nearest double of the exact one, so its two neighbours enclose the exact one. libm is not used: exp
// is a Taylor polynomial with its remainder.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

namespace parley::proof {

static_assert(std::numeric_limits<double>::is_iec559 && std::numeric_limits<double>::digits == 53);

inline constexpr double infinity = std::numeric_limits<double>::infinity();

// The next double above x (std::nextafter, inlined).
inline double next_up(double x) {
  if (!(x < infinity)) return x;  // +inf and NaN stay
  if (x == 0) return std::numeric_limits<double>::denorm_min();
  const auto bits = std::bit_cast<std::int64_t>(x);
  return std::bit_cast<double>(bits + (x > 0 ? 1 : -1));
}
inline double next_down(double x) {
  return -next_up(-x);
}

struct Interval {
  double lo = 0, hi = 0;
  Interval() = default;
  Interval(double x) : lo(x), hi(x) {}  // implicit: a double is an exact real number
  Interval(double low, double high) : lo(low), hi(high) {}
  double width() const { return hi - lo; }
  double middle() const { return lo + 0.5 * (hi - lo); }
};

inline Interval outward(double lo, double hi) {
  return {next_down(lo), next_up(hi)};
}
inline Interval operator-(Interval a) {
  return {-a.hi, -a.lo};
}  // exact
inline Interval operator+(Interval a, Interval b) {
  return outward(a.lo + b.lo, a.hi + b.hi);
}
inline Interval operator-(Interval a, Interval b) {
  return outward(a.lo - b.hi, a.hi - b.lo);
}
inline Interval operator*(Interval a, Interval b) {
  if (a.lo >= 0 && b.lo >= 0) return outward(a.lo * b.lo, a.hi * b.hi);
  const double p[] = {a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi};
  if (!(std::max({-a.lo, a.hi, -b.lo, b.hi}) < infinity))
    return {-infinity, infinity};  // 0 * inf must not get lost in min and max
  return outward(std::min({p[0], p[1], p[2], p[3]}), std::max({p[0], p[1], p[2], p[3]}));
}
// b > 0. With b.lo = 0 (the divisor is any positive number up to b.hi) and a >= 0 the quotient is unbounded above.
inline Interval operator/(Interval a, Interval b) {
  if (!(b.lo > 0))
    return b.lo == 0 && b.hi > 0 && a.lo >= 0 ? Interval(next_down(a.lo / b.hi), infinity)
                                              : Interval(-infinity, infinity);
  return outward(a.lo / (a.lo >= 0 ? b.hi : b.lo), a.hi / (a.hi >= 0 ? b.lo : b.hi));
}
inline Interval square(Interval a) {  // sharper than a * a when a holds 0
  const double low = a.lo > 0 ? a.lo : a.hi < 0 ? -a.hi : 0, high = std::max(-a.lo, a.hi);
  return {low > 0 ? next_down(low * low) : 0, next_up(high * high)};
}
inline Interval positive_part(Interval a) {
  return {std::max(a.lo, 0.0), std::max(a.hi, 0.0)};
}  // max(x, 0), exact

// e^x at one exact point: y = x/2^n (exact) with |y| <= 1/8, Taylor to degree 9, |remainder| <= 2 |y|^10/10!, then n
// squarings.
inline Interval exp_at(double x) {
  if (x < -700) return {0, 1e-300};  // e^-700 < 1e-304
  if (!(x <= 700)) return {0, infinity};
  int n = 0;
  for (; x > 0.125 || x < -0.125; ++n) x *= 0.5;
  Interval sum = 1;
  for (int j = 9; j >= 1; --j) sum = Interval(1) + sum * Interval(x) / Interval(j);
  const double rest = 6e-16;  // 2 (1/8)^10 / 10! = 5.2e-16
  for (sum = sum + Interval(-rest, rest); n > 0; --n) sum = square(sum);
  return sum;
}
inline Interval exp(Interval a) {
  return {exp_at(a.lo).lo, exp_at(a.hi).hi};
}  // e^x increases

}  // namespace parley::proof
